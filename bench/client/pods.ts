/** Objects for the benchmarks: a pod as kubelet and its owners leave it (4.5 KB), and a small one (1.2 KB). */
export function benchPod(index: number): object {
  const name = `web-7d4b9c6f5d-${String(index).padStart(5, "0")}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      generateName: "web-7d4b9c6f5d-",
      namespace: "bench",
      uid: `5f1c0c1e-0000-4000-8000-${String(index).padStart(12, "0")}`,
      resourceVersion: String(1000 + index),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: "web", "pod-template-hash": "7d4b9c6f5d", tier: `tier-${index % 7}` },
      annotations: { "prometheus.io/scrape": "true", "checksum/config": "c0ffee".repeat(10) },
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d4b9c6f5d", uid: "3f1c0c1e", controller: true },
      ],
      managedFields: [managedFields("kube-controller-manager"), managedFields("kubelet", "status")],
    },
    spec: {
      nodeName: `node-${index % 50}`,
      serviceAccountName: "default",
      containers: ["app", "proxy"].map((container) => ({
        name: container,
        image: `registry.example/${container}:1.2.3`,
        env: Array.from({ length: 8 }, (_, number) => ({
          name: `SETTING_${number}`,
          value: `value-${number}-${container}`,
        })),
        ports: [{ containerPort: 8080, protocol: "TCP", name: "http" }],
        resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "1", memory: "512Mi" } },
        volumeMounts: [{ name: "token", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true }],
        livenessProbe: { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10, failureThreshold: 3 },
      })),
      volumes: [
        {
          name: "token",
          projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: 3607 } }] },
        },
      ],
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      ],
    },
    status: {
      phase: "Running",
      podIP: `10.1.${index >> 8}.${index & 255}`,
      conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
        type,
        status: "True",
        lastTransitionTime: "2026-01-01T00:00:05Z",
      })),
      containerStatuses: ["app", "proxy"].map((container) => ({
        name: container,
        ready: true,
        restartCount: 0,
        image: `registry.example/${container}:1.2.3`,
        imageID: `registry.example/${container}@sha256:${"ab".repeat(32)}`,
        containerID: `containerd://${"cd".repeat(32)}`,
        state: { running: { startedAt: "2026-01-01T00:00:03Z" } },
      })),
    },
  };
}

export function benchSmallPod(index: number): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `small-${index}`,
      namespace: "bench",
      uid: `6f1c0c1e-0000-4000-8000-${String(index).padStart(12, "0")}`,
      resourceVersion: String(1000 + index),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: "small", tier: `tier-${index % 7}` },
      annotations: { note: "n".repeat(330) },
    },
    spec: {
      nodeName: `node-${index % 50}`,
      containers: [{ name: "app", image: "registry.example/app:1.2.3", args: ["a".repeat(200)] }],
    },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:05Z" }],
      message: "m".repeat(200),
    },
  };
}

function managedFields(manager: string, subresource?: string): object {
  const fields = Object.fromEntries(
    ["app", "proxy"].map((name) => [
      `k:{"name":"${name}"}`,
      {
        ".": {},
        "f:name": {},
        "f:image": {},
        "f:env": {},
        "f:ports": {},
        "f:resources": { "f:limits": {}, "f:requests": {} },
      },
    ]),
  );
  return {
    manager,
    operation: "Update",
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: {
      "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
      "f:spec": { "f:containers": fields, "f:volumes": {} },
    },
    ...(subresource && { subresource }),
  };
}
