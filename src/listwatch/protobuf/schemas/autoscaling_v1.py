"""The messages of autoscaling_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
ContainerResourceMetricSource 1:name:s! 2:targetAverageUtilization:i* 3:targetAverageValue:#api_resource.Quantity*
 5:container:s!
ContainerResourceMetricStatus 1:name:s! 2:currentAverageUtilization:i* 3:currentAverageValue:#api_resource.Quantity!
 4:container:s!
CrossVersionObjectReference 1:kind:s! 2:name:s! 3:apiVersion:s@APIVersion
ExternalMetricSource 1:metricName:s! 2:metricSelector:#meta_v1.LabelSelector* 3:targetValue:#api_resource.Quantity*
 4:targetAverageValue:#api_resource.Quantity*
ExternalMetricStatus 1:metricName:s! 2:metricSelector:#meta_v1.LabelSelector* 3:currentValue:#api_resource.Quantity!
 4:currentAverageValue:#api_resource.Quantity*
HorizontalPodAutoscaler 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#HorizontalPodAutoscalerSpec
 3:status:#HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerCondition 1:type:s! 2:status:s! 3:lastTransitionTime:#meta_v1.Time 4:reason:s 5:message:s
 6:observedGeneration:l*
HorizontalPodAutoscalerList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#HorizontalPodAutoscaler!
HorizontalPodAutoscalerSpec 1:scaleTargetRef:#CrossVersionObjectReference! 2:minReplicas:i* 3:maxReplicas:i!
 4:targetCPUUtilizationPercentage:i*
HorizontalPodAutoscalerStatus 1:observedGeneration:l* 2:lastScaleTime:#meta_v1.Time* 3:currentReplicas:i!
 4:desiredReplicas:i! 5:currentCPUUtilizationPercentage:i*
MetricSpec 1:type:s! 2:object:#ObjectMetricSource* 3:pods:#PodsMetricSource* 4:resource:#ResourceMetricSource*
 7:containerResource:#ContainerResourceMetricSource* 5:external:#ExternalMetricSource*
MetricStatus 1:type:s! 2:object:#ObjectMetricStatus* 3:pods:#PodsMetricStatus* 4:resource:#ResourceMetricStatus*
 7:containerResource:#ContainerResourceMetricStatus* 5:external:#ExternalMetricStatus*
ObjectMetricSource 1:target:#CrossVersionObjectReference! 2:metricName:s! 3:targetValue:#api_resource.Quantity!
 4:selector:#meta_v1.LabelSelector* 5:averageValue:#api_resource.Quantity*
ObjectMetricStatus 1:target:#CrossVersionObjectReference! 2:metricName:s! 3:currentValue:#api_resource.Quantity!
 4:selector:#meta_v1.LabelSelector* 5:averageValue:#api_resource.Quantity*
PodsMetricSource 1:metricName:s! 2:targetAverageValue:#api_resource.Quantity! 3:selector:#meta_v1.LabelSelector*
PodsMetricStatus 1:metricName:s! 2:currentAverageValue:#api_resource.Quantity! 3:selector:#meta_v1.LabelSelector*
ResourceMetricSource 1:name:s! 2:targetAverageUtilization:i* 3:targetAverageValue:#api_resource.Quantity*
ResourceMetricStatus 1:name:s! 2:currentAverageUtilization:i* 3:currentAverageValue:#api_resource.Quantity!
Scale 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#ScaleSpec 3:status:#ScaleStatus
ScaleSpec 1:replicas:i
ScaleStatus 1:replicas:i! 2:selector:s
"""
