// What people type. Each step is one command: what it reads, how it ends, and what it must print.
export interface Step {
  readonly run: string;
  readonly stdin?: string;
  readonly exit?: number;
  /** Everything that must be in the output, standard output and error together. */
  readonly prints?: readonly (string | RegExp)[];
  /** The first kubectl that has the command. */
  readonly since?: number;
}

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.demo.example.com}
spec:
  group: demo.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns: [{name: Replicas, type: integer, jsonPath: .spec.replicas}, {name: Age, type: date, jsonPath: .metadata.creationTimestamp}]
    schema:
      openAPIV3Schema:
        type: object
        description: A widget is a thing.
        properties:
          spec:
            type: object
            description: What is wanted.
            properties:
              replicas: {type: integer, minimum: 0, default: 1, description: How many of them.}
              mode: {type: string, enum: [a, b]}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`;
const widget = (spec: string): string => `
apiVersion: demo.example.com/v1
kind: Widget
metadata: {name: w1}
spec: ${spec}
`;
const deployment = (image: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: "${image}", ports: [{containerPort: 80}]}
`;
const configMap = (value: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: cm}
data: {key: "${value}"}
`;

const limits = `
apiVersion: v1
kind: LimitRange
metadata: {name: l1}
spec: {limits: [{type: Container, max: {cpu: 2}, default: {cpu: 500m}, maxLimitRequestRatio: {cpu: 4}}]}
`;

const volume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: v1}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /data}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c1}
spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: example.com/nginx}
`;

export const scenarios: readonly Scenario[] = [
  {
    name: "looks around",
    steps: [
      { run: "version", prints: [/Server Version: .*v1\.36/] },
      { run: "api-versions", prints: ["apps/v1", "apiextensions.k8s.io/v1", "rbac.authorization.k8s.io/v1"] },
      {
        run: "api-resources",
        prints: [/configmaps +cm +v1 +true +ConfigMap/, /deployments +deploy +apps\/v1 +true +Deployment/],
      },
      { run: "cluster-info", prints: ["Kubernetes control plane", "is running at"] },
      { run: "get ns", prints: [/default +Active/, /kube-system +Active/] },
      { run: "get all -A", prints: [/service\/kubernetes +ClusterIP +10\./] },
      { run: "get nosuch", exit: 1, prints: [`the server doesn't have a resource type "nosuch"`] },
      { run: "get --raw /readyz", prints: ["ok"] },
      {
        run: "get endpoints kubernetes",
        prints: [/kubernetes +127\.0\.0\.1:\d+/, "v1 Endpoints is deprecated in v1.33+"],
      },
      { run: "get endpointslices", prints: [/kubernetes +IPv4 +\d+ +127\.0\.0\.1/] },
      { run: "describe service kubernetes", prints: [/Endpoints: +127\.0\.0\.1:\d+/] },
      { run: "explain pods.spec.containers", prints: ["KIND:", "Pod", "image"] },
      { run: "explain deployments --recursive", prints: ["selector", "strategy"] },
      { run: "top pods", exit: 1, prints: ["Metrics API not available"] },
    ],
  },
  {
    name: "creates with generators, whose bodies are protobuf in newer versions",
    steps: [
      { run: "create namespace foo", prints: ["namespace/foo created"] },
      { run: "create configmap cmx --from-literal=a=b", prints: ["configmap/cmx created"] },
      { run: "create secret generic s1 --from-literal=a=b", prints: ["secret/s1 created"] },
      { run: "get secret s1 -o jsonpath={.data.a}", prints: ["Yg=="] },
      { run: "create serviceaccount sa1", prints: ["serviceaccount/sa1 created"] },
      { run: "create deployment dd --image=nginx --replicas=2", prints: ["deployment.apps/dd created"] },
      { run: "create role r1 --verb=get,list --resource=pods", prints: ["role.rbac.authorization.k8s.io/r1 created"] },
      {
        run: "create rolebinding rb1 --role=r1 --serviceaccount=default:sa1",
        prints: ["rolebinding.rbac.authorization.k8s.io/rb1 created"],
      },
      {
        run: "create clusterrole cr1 --verb=get --resource=nodes",
        prints: ["clusterrole.rbac.authorization.k8s.io/cr1 created"],
      },
      { run: "create job j1 --image=busybox -- echo hi", prints: ["job.batch/j1 created"] },
      { run: "create cronjob c1 --image=busybox --schedule=@daily -- echo hi", prints: ["cronjob.batch/c1 created"] },
      { run: "create service clusterip svc1 --tcp=80:8080", prints: ["service/svc1 created"] },
      { run: "create ingress i1 --rule=example.com/=svc1:80", prints: ["ingress.networking.k8s.io/i1 created"] },
      {
        run: "create poddisruptionbudget pdb1 --selector=app=x --min-available=1",
        prints: ["poddisruptionbudget.policy/pdb1 created"],
      },
      { run: "create priorityclass pc1 --value=10", prints: ["priorityclass.scheduling.k8s.io/pc1 created"] },
      { run: "create token sa1 --duration=1h", prints: [/^eyJ/m] },
      { run: "autoscale deployment dd --max=3", prints: ["horizontalpodautoscaler.autoscaling/dd autoscaled"] },
      { run: "expose deployment dd --port=80 --name=exposed", prints: ["service/exposed exposed"] },
      { run: "create configmap cmx --from-literal=a=b", exit: 1, prints: ['configmaps "cmx" already exists'] },
      {
        run: "get deploy,svc,hpa,job,cronjob,ing,pdb",
        prints: ["deployment.apps/dd", "service/exposed", "horizontalpodautoscaler.autoscaling/dd"],
      },
    ],
  },
  {
    name: "applies, again and again",
    steps: [
      { run: "apply -f -", stdin: configMap("1"), prints: ["configmap/cm created"] },
      { run: "apply -f -", stdin: configMap("1"), prints: ["configmap/cm unchanged"] },
      { run: "apply -f -", stdin: configMap("2"), prints: ["configmap/cm configured"] },
      { run: "get cm cm -o jsonpath={.data.key}", prints: ["2"] },
      { run: "diff -f -", stdin: configMap("3"), exit: 1, prints: [/-\s+key: "2"/, /\+\s+key: "3"/] },
      {
        run: "apply --dry-run=server -f -",
        stdin: configMap("3"),
        prints: ["configmap/cm configured (server dry run)"],
      },
      { run: "apply --server-side -f -", stdin: configMap("2"), prints: ["configmap/cm serverside-applied"] },
      { run: "apply -f -", stdin: deployment("nginx:1"), prints: ["deployment.apps/web created"] },
      { run: "apply -f -", stdin: deployment("nginx:2"), prints: ["deployment.apps/web configured"] },
      { run: "get deploy web -o jsonpath={.spec.template.spec.containers[0].image}", prints: ["nginx:2"] },
      {
        run: "apply --server-side --force-conflicts --field-manager=me -f -",
        stdin: deployment("nginx:3"),
        prints: ["deployment.apps/web serverside-applied"],
      },
      { run: "replace -f -", stdin: configMap("9"), prints: ["configmap/cm replaced"] },
      {
        run: "apply -f -",
        stdin: `${configMap("1")}wrong: 1\n`,
        exit: 1,
        prints: [/unknown field "wrong"|unknown field "ConfigMap.wrong"/],
      },
      { run: "delete -f -", stdin: configMap("1"), prints: ['configmap "cm" deleted'] },
    ],
  },
  {
    name: "works with custom resources as with any other",
    steps: [
      {
        run: "apply -f -",
        stdin: definition,
        prints: ["customresourcedefinition.apiextensions.k8s.io/widgets.demo.example.com created"],
      },
      { run: "wait --for=condition=Established crd/widgets.demo.example.com --timeout=60s", prints: ["condition met"] },
      { run: "apply -f -", stdin: widget("{mode: a}"), prints: ["widget.demo.example.com/w1 created"] },
      { run: "get wd", prints: [/NAME +REPLICAS +AGE/, /w1 +1 +\d+s/] },
      { run: "apply -f -", stdin: widget("{mode: b, replicas: 3}"), prints: ["widget.demo.example.com/w1 configured"] },
      { run: "get widget w1 -o jsonpath={.spec}", prints: ['"mode":"b"', '"replicas":3'] },
      { run: "apply -f -", stdin: widget("{mode: z}"), exit: 1, prints: ['spec.mode: Unsupported value: "z"'] },
      { run: "create -f -", stdin: widget("{extra: 1}"), exit: 1, prints: ['unknown field "spec.extra"'] },
      { run: "scale widget w1 --replicas=5", prints: ["widget.demo.example.com/w1 scaled"] },
      {
        run: 'patch widget w1 --type=merge -p {"spec":{"replicas":4}}',
        prints: ["widget.demo.example.com/w1 patched"],
      },
      {
        run: 'patch widget w1 --subresource=status --type=merge -p {"status":{"phase":"Ready"}}',
        prints: ["widget.demo.example.com/w1 patched"],
      },
      { run: "wait --for=jsonpath={.status.phase}=Ready widget/w1 --timeout=60s", prints: ["condition met"] },
      { run: "get widget w1 --subresource=status -o jsonpath={.status.phase}", prints: ["Ready"] },
      { run: "explain widget.spec", prints: ["What is wanted.", "replicas", "How many of them."] },
      { run: "describe widget w1", prints: ["Name:", "w1", "Replicas:"] },
      { run: "delete widget --all", prints: ['widget.demo.example.com "w1" deleted'] },
      { run: "delete crd widgets.demo.example.com", prints: ["deleted"] },
      // The resource may still be in kubectl's own cache.
      {
        run: "get wd",
        exit: 1,
        prints: [/the server doesn't have a resource type "wd"|the server could not find the requested resource/],
      },
    ],
  },
  {
    name: "changes, labels, rolls out and looks",
    steps: [
      { run: "apply -f -", stdin: deployment("nginx:1"), prints: ["created"] },
      { run: "scale deployment web --replicas=3", prints: ["deployment.apps/web scaled"] },
      { run: "scale deployment web --current-replicas=2 --replicas=4", exit: 1, prints: ["was 3"] },
      { run: "scale deployment web --current-replicas=3 --replicas=3", prints: ["deployment.apps/web scaled"] },
      { run: "set image deployment/web c=nginx:2", prints: ["deployment.apps/web image updated"] },
      { run: "rollout restart deployment/web", prints: ["deployment.apps/web restarted"] },
      { run: "rollout pause deployment/web", prints: ["deployment.apps/web paused"] },
      { run: "rollout history deployment/web", prints: ["deployment.apps/web"] },
      { run: "label deployment web tier=front", prints: ["deployment.apps/web labeled"] },
      { run: "annotate deployment web note=hello", prints: [/deployment.apps\/web annotated?/] },
      { run: "get deployment web --show-labels", prints: [/app=web,tier=front/] },
      { run: "get deployment -l tier=front -o name", prints: ["deployment.apps/web"] },
      {
        run: "get deployment web -o wide",
        prints: [/NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR/, "nginx:2"],
      },
      { run: "get deployment web -o yaml", prints: ["kind: Deployment", "replicas: 3"] },
      { run: "get deployments --sort-by=.metadata.name", prints: ["web"] },
      { run: "get deployment web --field-selector=metadata.name=web", exit: 1 },
      {
        run: "get deployments --field-selector=metadata.name=web -o custom-columns=N:.metadata.name",
        prints: [/^web$/m],
      },
      { run: 'patch deployment web -p {"spec":{"replicas":2}}', prints: ["deployment.apps/web patched"] },
      {
        run: 'patch deployment web --type=json -p [{"op":"replace","path":"/spec/replicas","value":1}]',
        prints: ["deployment.apps/web patched"],
      },
      { run: "describe deployment web", prints: ["Name:", "web", "StrategyType:"] },
      {
        run: "rollout status deployment/web --timeout=1s",
        exit: 1,
        prints: [/timed out waiting|Waiting for deployment|unknown status|error/],
      },
      { run: "events", prints: [/No events found|LAST SEEN/] },
      { run: "delete deployment web --wait=false", prints: ['deployment.apps "web" deleted'] },
      { run: "wait --for=delete deployment/web --timeout=60s" },
    ],
  },
  {
    name: "keeps volumes and classes",
    steps: [
      { run: "apply -f -", stdin: volume, prints: ["persistentvolume/v1 created", "persistentvolumeclaim/c1 created"] },
      { run: "get pv", prints: [/CAPACITY +ACCESS MODES +RECLAIM POLICY +STATUS/, /v1 +1Gi +RWO +Retain +Pending/] },
      { run: "get pvc", prints: [/c1 +Pending/] },
      { run: "describe pv v1", prints: ["Path:", "/data", "Finalizers:", "kubernetes.io/pv-protection"] },
      { run: "get ingressclasses", prints: [/nginx +example.com\/nginx +<none>/] },
      { run: "explain persistentvolumes.spec.hostPath", prints: ["PersistentVolume", "path"] },
      { run: "apply -f -", stdin: volume, prints: ["persistentvolume/v1 unchanged"] },
    ],
  },
  {
    name: "bounds what a namespace uses",
    steps: [
      {
        run: "create quota q1 --hard=pods=1,limits.cpu=2,count/deployments.apps=0",
        prints: ["resourcequota/q1 created"],
      },
      { run: "create quota q2 --hard=pods=-1", exit: 1, prints: ["spec.hard[pods]: Invalid value"] },
      {
        run: 'patch quota q1 --subresource=status --type=merge -p {"status":{"hard":{"pods":"1","limits.cpu":"2","count/deployments.apps":"0"},"used":{"pods":"0","limits.cpu":"0","count/deployments.apps":"0"}}}',
        prints: ["resourcequota/q1 patched"],
      },
      {
        run: "create deployment d1 --image=x",
        exit: 1,
        prints: [
          'deployments.apps "d1" is forbidden: exceeded quota: q1, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0',
        ],
      },
      { run: "create serviceaccount default", prints: ["created"] },
      {
        run: "run p1 --image=x",
        exit: 1,
        prints: ['pods "p1" is forbidden: failed quota: q1: must specify limits.cpu for: p1'],
      },
      { run: "apply -f -", stdin: limits, prints: ["limitrange/l1 created"] },
      { run: "get limits", prints: [/NAME +CREATED AT/, /l1 +\d{4}-/] },
      { run: "describe limits l1", prints: [/Container +cpu +- +2 +500m +500m +4/] },
      { run: "run p1 --image=x", prints: ["pod/p1 created"] },
      { run: "get pod p1 -o jsonpath={.spec.containers[0].resources.limits.cpu}", prints: ["500m"] },
      {
        run: "get quota",
        prints: [/q1 +(\S+ +)?count\/deployments.apps: 0\/0, pods: 1\/1 +limits.cpu: 500m\/2/],
      },
      { run: "describe quota q1", prints: [/Resource +Used +Hard/, /limits.cpu +500m +2/, /pods +1 +1/] },
      { run: "describe ns default", prints: ["Resource Quotas", /limits.cpu +500m +2/, "Resource Limits"] },
      {
        run: "run p2 --image=x",
        exit: 1,
        prints: ['pods "p2" is forbidden: exceeded quota: q1, requested: pods=1, used: pods=1, limited: pods=1'],
      },
      { run: "explain quota.spec.scopes", prints: ["ResourceQuota", "They cannot change."] },
      { run: "explain limits.spec.limits.max", prints: ["LimitRange", "The most that it may use."] },
      // What the server has filled in makes the list another one, here as on a real server.
      { run: "apply -f -", stdin: limits, prints: ["limitrange/l1 configured"] },
      { run: "delete quota q1", prints: ['resourcequota "q1" deleted'] },
      { run: "run p2 --image=x", prints: ["pod/p2 created"] },
    ],
  },
  {
    name: "asks who one is and what one may do",
    steps: [
      { run: "auth can-i create pods", prints: ["yes"] },
      { run: "auth can-i create pods --as=jane", exit: 1, prints: ["no"] },
      { run: "auth can-i --list --as=jane", prints: ["selfsubjectaccessreviews.authorization.k8s.io"] },
      { run: "auth whoami", since: 28, prints: ["capstan-admin", "system:masters"] },
      {
        run: "get pods --as=jane",
        exit: 1,
        prints: [
          'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"',
        ],
      },
      { run: "create rolebinding jane --clusterrole=view --user=jane", prints: ["created"] },
      { run: "get pods --as=jane", prints: ["No resources found in default namespace."] },
      { run: "create configmap no --as=jane", exit: 1, prints: ["cannot create resource"] },
    ],
  },
  {
    name: "runs pods and reads what is said about them",
    steps: [
      { run: "create serviceaccount default", prints: ["created"] },
      { run: "run p1 --image=busybox", prints: ["pod/p1 created"] },
      { run: "get pods", prints: [/p1 +0\/1 +Pending/] },
      { run: "describe pod p1", prints: ["Name:", "p1", "Service Account:", "default", /Status: +Pending/] },
      { run: "label pod p1 a=b", prints: ["pod/p1 labeled"] },
      { run: "get pods -l a=b --field-selector=status.phase=Pending -o name", prints: ["pod/p1"] },
      { run: "logs p1", exit: 1, prints: [/error|Error/] },
      { run: "exec p1 -- ls", exit: 1, prints: [/pod p1 does not have a host assigned/] },
      { run: "exec nosuch -- ls", exit: 1, prints: ['pods "nosuch" not found'] },
      { run: "port-forward p1 18080:80", exit: 1, prints: [/error/] },
      { run: "debug p1 --image=busybox --container=look --attach=false" },
      { run: "get pod p1 -o jsonpath={.spec.ephemeralContainers[0].name}", prints: ["look"] },
      { run: "events --for pod/p1", since: 28, prints: [/No events found|LAST SEEN/] },
      { run: "delete pod p1 --grace-period=0 --force", prints: ['pod "p1" force deleted'] },
      { run: "describe serviceaccount default", prints: ["Name:", "default"] },
      { run: "describe ns default", prints: ["Status:", "Active"] },
      { run: "delete ns nosuch", exit: 1, prints: ['namespaces "nosuch" not found'] },
      { run: "get pod p1", exit: 1, prints: ['pods "p1" not found'] },
    ],
  },
];
