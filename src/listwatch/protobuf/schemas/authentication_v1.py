"""The messages of authentication_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
AttestationValue[] 1:items:[s!
BoundObjectReference 1:kind:s 2:apiVersion:s@APIVersion 3:name:s 4:uid:s@UID
ExtraValue[] 1:items:[s!
SelfSubjectReview 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:status:#SelfSubjectReviewStatus
SelfSubjectReviewStatus 1:userInfo:#UserInfo
TokenRequest 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#TokenRequestSpec! 3:status:#TokenRequestStatus
TokenRequestSpec 1:audiences:[s! 4:expirationSeconds:l*! 3:boundObjectRef:#BoundObjectReference*!
 5:attestations:{#AttestationValue
TokenRequestStatus 1:token:s! 2:expirationTimestamp:#meta_v1.Time!
TokenReview 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#TokenReviewSpec! 3:status:#TokenReviewStatus
TokenReviewSpec 1:token:s 2:audiences:[s
TokenReviewStatus 1:authenticated:b 2:user:#UserInfo 4:audiences:[s 3:error:s
UserInfo 1:username:s 2:uid:s@UID 3:groups:[s 4:extra:{#ExtraValue
"""
