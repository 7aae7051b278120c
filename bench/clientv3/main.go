// Command clientv3 measures etcd's own client with a map: the same arguments and figures as bench/etcd/grpc_loop.py.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const page = 5000

// Item is a value of about 980 bytes.
type Item struct {
	Padding string `json:"padding"`
	Round   int    `json:"round"`
}

func main() {
	if err := measure(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(url, prefix, keys, since string) error {
	count, err := strconv.Atoi(keys)
	if err != nil {
		return err
	}
	revision, err := strconv.ParseInt(since, 10, 64)
	if err != nil {
		return err
	}
	figures := map[string]float64{}
	for _, task := range []struct {
		name, cpu string
		run       func() error
	}{
		{"keys", "key_cpu", func() error { return list(url, prefix, count) }},
		{"events", "event_cpu", func() error { return watch(url, prefix, count, revision) }},
	} {
		if err := task.run(); err != nil { // warm-up
			return err
		}
		started, used := time.Now(), cpuSeconds()
		if err := task.run(); err != nil {
			return err
		}
		figures[task.name] = float64(count) / time.Since(started).Seconds()
		figures[task.cpu] = (cpuSeconds() - used) / float64(count) * 1e6
	}
	return json.NewEncoder(os.Stdout).Encode(figures)
}

func connect(url string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: []string{url}, DialTimeout: 10 * time.Second})
}

func list(url, prefix string, count int) error {
	client, err := connect(url)
	if err != nil {
		return err
	}
	defer client.Close()
	store, key, revision := map[string]Item{}, prefix, int64(0)
	end := clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix))
	for {
		found, err := client.Get(context.Background(), key, end, clientv3.WithLimit(page), clientv3.WithRev(revision))
		if err != nil {
			return err
		}
		for _, entry := range found.Kvs {
			if err := keep(store, entry.Key, entry.Value); err != nil {
				return err
			}
		}
		if !found.More {
			break
		}
		key = string(found.Kvs[len(found.Kvs)-1].Key) + "\x00"
		if revision == 0 {
			revision = found.Header.Revision
		}
	}
	if len(store) != count {
		return fmt.Errorf("%d keys, not %d", len(store), count)
	}
	return nil
}

func watch(url, prefix string, count int, revision int64) error {
	client, err := connect(url)
	if err != nil {
		return err
	}
	defer client.Close()
	store, seen := map[string]Item{}, 0
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	options := []clientv3.OpOption{
		clientv3.WithPrefix(), clientv3.WithRev(revision + 1), clientv3.WithFragment(),
	}
	for message := range client.Watch(ctx, prefix, options...) {
		if err := message.Err(); err != nil {
			return err
		}
		for _, event := range message.Events {
			if err := keep(store, event.Kv.Key, event.Kv.Value); err != nil {
				return err
			}
		}
		if seen += len(message.Events); seen >= count {
			return nil
		}
	}
	return fmt.Errorf("the watch ended after %d events, not %d", seen, count)
}

func keep(store map[string]Item, key, value []byte) error {
	var item Item
	if err := json.Unmarshal(value, &item); err != nil {
		return err
	}
	store[string(key)] = item
	return nil
}

func cpuSeconds() float64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}
