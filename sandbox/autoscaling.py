"""KEDA's stand-in, played by KWOK: it makes of a ScaledObject the HPA that KEDA would make.

The HPA controller is the real one: it holds the target between the least and the most replicas. No metric is served, so
nothing scales on load here; the HPA says so in its conditions.
"""

from __future__ import annotations

from sandbox.api import Api, Object

_PREPARED = "generation {{ .metadata.generation }}"

_AUTOSCALER_TEMPLATE = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: keda-hpa-{{ .metadata.name }}
  namespace: {{ .metadata.namespace }}
  labels:
    app.kubernetes.io/managed-by: sandbox-keda-stand-in
    scaledobject.keda.sh/name: {{ .metadata.name }}
  ownerReferences:
  - apiVersion: keda.sh/v1alpha1
    kind: ScaledObject
    name: {{ .metadata.name }}
    uid: {{ .metadata.uid }}
    controller: true
    blockOwnerDeletion: true
spec:
  scaleTargetRef:
    apiVersion: {{ or .spec.scaleTargetRef.apiVersion "apps/v1" | Quote }}
    kind: {{ or .spec.scaleTargetRef.kind "Deployment" | Quote }}
    name: {{ .spec.scaleTargetRef.name | Quote }}
  minReplicas: {{ or .spec.minReplicaCount 1 }}
  maxReplicas: {{ or .spec.maxReplicaCount 100 }}
  metrics:
  {{ range $index, $trigger := .spec.triggers }}
  - type: External
    external:
      metric:
        name: s{{ $index }}-{{ $trigger.type }}
        selector:
          matchLabels:
            scaledobject.keda.sh/name: {{ $.metadata.name }}
      target:
        {{ if eq (or $trigger.metricType "AverageValue") "Value" }}
        type: Value
        value: {{ $trigger.metadata.threshold | Quote }}
        {{ else }}
        type: AverageValue
        averageValue: {{ $trigger.metadata.threshold | Quote }}
        {{ end }}
  {{ end }}
"""

_STATUS_TEMPLATE = f"""
hpaName: keda-hpa-{{{{ .metadata.name }}}}
conditions:
- type: Ready
  status: "True"
  reason: SandboxStandIn
  message: {_PREPARED}
"""

SCALED_OBJECT_STAGE: Object = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1",
    "kind": "Stage",
    "metadata": {"name": "sandbox-keda-stand-in"},
    "spec": {
        "resourceRef": {"apiGroup": "keda.sh/v1alpha1", "kind": "ScaledObject"},
        "selector": {
            "matchExpressions": [
                {
                    # Once a generation: a changed spec makes a changed HPA.
                    "cel": {
                        "expression": "!has(self.status) || !has(self.status.conditions) || "
                        "!self.status.conditions.exists(c, "
                        "c.message == 'generation ' + string(int(self.metadata.generation)))"
                    }
                }
            ]
        },
        "steps": [
            {"apply": {"template": _AUTOSCALER_TEMPLATE}},
            {"patch": {"subresource": "status", "root": "status", "template": _STATUS_TEMPLATE}},
        ],
    },
}


def scaled_objects_served(api: Api) -> bool:
    """Whether the cluster has KEDA's CRDs (a stack brings them), and their schema is out: KWOK ends without it."""
    return "apis/keda.sh/v1alpha1" in api.request("GET", "/openapi/v3")["paths"]
