package main

import (
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const sentAnnotation = "bench/sent"

// A handler calls a function for each change, and signals when an expected number of changes was handled.
type handler struct {
	mutex sync.Mutex
	call  func(metav1.Object)
	left  int
	done  chan struct{}
}

func newHandler() *handler {
	return &handler{call: glance, done: make(chan struct{})}
}

// expect calls the function with the following changes; the channel is closed after count of them.
func (h *handler) expect(count int, call func(metav1.Object)) <-chan struct{} {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.call, h.left, h.done = call, count, make(chan struct{})
	return h.done
}

func (h *handler) OnAdd(obj interface{}, isInInitialList bool) { h.see(obj) }
func (h *handler) OnUpdate(oldObj, newObj interface{})         { h.see(newObj) }
func (h *handler) OnDelete(obj interface{})                    { h.see(obj) }

func (h *handler) see(obj interface{}) {
	found, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.call(found)
	if h.left > 0 {
		if h.left--; h.left == 0 {
			close(h.done)
		}
	}
}

// sink keeps the compiler from removing the reads.
var sink int

func glance(found metav1.Object) {
	sink += len(found.GetName()) + len(found.GetNamespace()) + len(found.GetLabels())
}

func touch(found metav1.Object) {
	glance(found)
	switch obj := found.(type) {
	case *corev1.Pod:
		touchManaged(obj.ManagedFields)
		touchPod(obj)
	case *corev1.ConfigMap:
		touchManaged(obj.ManagedFields)
		for name, value := range obj.Data {
			sink += len(name) + len(value)
		}
	case *corev1.Secret:
		touchManaged(obj.ManagedFields)
		for name, value := range obj.Data {
			sink += len(name) + len(value)
		}
	case *unstructured.Unstructured:
		touchWidget(obj)
	}
}

func touchManaged(entries []metav1.ManagedFieldsEntry) {
	for i := range entries {
		sink += len(entries[i].Manager) + len(entries[i].FieldsV1.Raw)
	}
}

func touchPod(pod *corev1.Pod) {
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		sink += len(container.Image) + len(container.Env) + len(container.Ports) + len(container.Resources.Limits)
	}
	for i := range pod.Status.Conditions {
		sink += len(pod.Status.Conditions[i].Type)
	}
	sink += len(pod.Spec.NodeName) + len(pod.Spec.Volumes) + len(pod.Status.PodIP)
}

// touchWidget reads the content as it is: the accessors of unstructured objects would copy it.
func touchWidget(widget *unstructured.Unstructured) {
	managed, _, _ := unstructured.NestedFieldNoCopy(widget.Object, "metadata", "managedFields")
	for _, entry := range managed.([]interface{}) {
		sink += len(entry.(map[string]interface{})["manager"].(string))
	}
	parts, _, _ := unstructured.NestedFieldNoCopy(widget.Object, "spec", "parts")
	for _, each := range parts.([]interface{}) {
		part := each.(map[string]interface{})
		sink += len(part["name"].(string)) + int(part["weight"].(float64)) + len(part["tags"].([]interface{}))
	}
	phase, _, _ := unstructured.NestedString(widget.Object, "status", "phase")
	sink += len(phase)
}

func sentAt(found metav1.Object) (int64, bool) {
	sent, err := strconv.ParseInt(found.GetAnnotations()[sentAnnotation], 10, 64)
	return sent, err == nil
}
