"""The messages of admissionregistration_v1beta1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
ApplyConfiguration 1:expression:s
AuditAnnotation 1:key:s! 2:valueExpression:s!
ExpressionWarning 2:fieldRef:s! 3:warning:s!
JSONPatch 1:expression:s
MatchCondition 1:name:s! 2:expression:s!
MatchResources 1:namespaceSelector:#meta_v1.LabelSelector* 2:objectSelector:#meta_v1.LabelSelector*
 3:resourceRules:[#NamedRuleWithOperations 4:excludeResourceRules:[#NamedRuleWithOperations 7:matchPolicy:s*
MutatingAdmissionPolicy 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#MutatingAdmissionPolicySpec
MutatingAdmissionPolicyBinding 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#MutatingAdmissionPolicyBindingSpec
MutatingAdmissionPolicyBindingList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#MutatingAdmissionPolicyBinding!
MutatingAdmissionPolicyBindingSpec 1:policyName:s 2:paramRef:#ParamRef* 3:matchResources:#MatchResources*
MutatingAdmissionPolicyList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#MutatingAdmissionPolicy!
MutatingAdmissionPolicySpec 1:paramKind:#ParamKind* 2:matchConstraints:#MatchResources* 3:variables:[#Variable
 4:mutations:[#Mutation 5:failurePolicy:s* 6:matchConditions:[#MatchCondition 7:reinvocationPolicy:s
MutatingWebhook 1:name:s! 2:clientConfig:#WebhookClientConfig! 3:rules:[#admissionregistration_v1.RuleWithOperations
 4:failurePolicy:s* 9:matchPolicy:s* 5:namespaceSelector:#meta_v1.LabelSelector*
 11:objectSelector:#meta_v1.LabelSelector* 6:sideEffects:s* 7:timeoutSeconds:i* 8:admissionReviewVersions:[s
 10:reinvocationPolicy:s* 12:matchConditions:[#MatchCondition
MutatingWebhookConfiguration 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:webhooks:[#MutatingWebhook
MutatingWebhookConfigurationList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#MutatingWebhookConfiguration!
Mutation 2:patchType:s! 3:applyConfiguration:#ApplyConfiguration* 4:jsonPatch:#JSONPatch*@JSONPatch
NamedRuleWithOperations 1:resourceNames:[s 2::#admissionregistration_v1.RuleWithOperations!@RuleWithOperations
ParamKind 1:apiVersion:s@APIVersion 2:kind:s
ParamRef 1:name:s 2:namespace:s 3:selector:#meta_v1.LabelSelector* 4:parameterNotFoundAction:s*
ServiceReference 1:namespace:s! 2:name:s! 3:path:s* 4:port:i*
TypeChecking 1:expressionWarnings:[#ExpressionWarning
ValidatingAdmissionPolicy 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#ValidatingAdmissionPolicySpec
 3:status:#ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicyBinding 1:metadata:#meta_v1.ObjectMeta@ObjectMeta
 2:spec:#ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ValidatingAdmissionPolicyBinding!
ValidatingAdmissionPolicyBindingSpec 1:policyName:s 2:paramRef:#ParamRef* 3:matchResources:#MatchResources*
 4:validationActions:[s
ValidatingAdmissionPolicyList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ValidatingAdmissionPolicy!
ValidatingAdmissionPolicySpec 1:paramKind:#ParamKind* 2:matchConstraints:#MatchResources* 3:validations:[#Validation
 4:failurePolicy:s* 5:auditAnnotations:[#AuditAnnotation 6:matchConditions:[#MatchCondition 7:variables:[#Variable
ValidatingAdmissionPolicyStatus 1:observedGeneration:l 2:typeChecking:#TypeChecking* 3:conditions:[#meta_v1.Condition
ValidatingWebhook 1:name:s! 2:clientConfig:#WebhookClientConfig! 3:rules:[#admissionregistration_v1.RuleWithOperations
 4:failurePolicy:s* 9:matchPolicy:s* 5:namespaceSelector:#meta_v1.LabelSelector*
 10:objectSelector:#meta_v1.LabelSelector* 6:sideEffects:s* 7:timeoutSeconds:i* 8:admissionReviewVersions:[s
 11:matchConditions:[#MatchCondition
ValidatingWebhookConfiguration 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:webhooks:[#ValidatingWebhook
ValidatingWebhookConfigurationList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ValidatingWebhookConfiguration!
Validation 1:expression:s! 2:message:s 3:reason:s* 4:messageExpression:s
Variable 1:name:s! 2:expression:s!
WebhookClientConfig 3:url:s*@URL 1:service:#ServiceReference* 2:caBundle:y@CABundle
"""
