"""The messages of certificates_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
CertificateSigningRequest 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#CertificateSigningRequestSpec!
 3:status:#CertificateSigningRequestStatus
CertificateSigningRequestCondition 1:type:s! 6:status:s! 2:reason:s 3:message:s 4:lastUpdateTime:#meta_v1.Time
 5:lastTransitionTime:#meta_v1.Time
CertificateSigningRequestList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#CertificateSigningRequest!
CertificateSigningRequestSpec 1:request:y! 7:signerName:s! 8:expirationSeconds:i* 5:usages:[s 2:username:s 3:uid:s@UID
 4:groups:[s 6:extra:{#ExtraValue
CertificateSigningRequestStatus 1:conditions:[#CertificateSigningRequestCondition 2:certificate:y
ClusterTrustBundle 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#ClusterTrustBundleSpec!
ClusterTrustBundleList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ClusterTrustBundle!
ClusterTrustBundleSpec 1:signerName:s 2:trustBundle:s!
ExtraValue[] 1:items:[s!
PodCertificateRequest 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#PodCertificateRequestSpec!
 3:status:#PodCertificateRequestStatus
PodCertificateRequestList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#PodCertificateRequest!
PodCertificateRequestSpec 1:signerName:s! 2:podName:s! 3:podUID:s! 4:serviceAccountName:s! 5:serviceAccountUID:s!
 6:nodeName:s! 7:nodeUID:s! 8:maxExpirationSeconds:i* 12:stubPKCS10Request:y! 11:unverifiedUserAnnotations:{s
PodCertificateRequestStatus 1:conditions:[#meta_v1.Condition 2:certificateChain:s 4:notBefore:#meta_v1.Time*
 5:beginRefreshAt:#meta_v1.Time* 6:notAfter:#meta_v1.Time*
"""
