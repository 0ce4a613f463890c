// What Go controllers do all day, with client-go against the API that KUBECONFIG names: informers, server-side apply, events,
// leader election, custom resources; once with JSON asked for and once with protobuf.
package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	appsac "k8s.io/client-go/applyconfigurations/apps/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	metaac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
)

var failed int

func check(name string, err error) {
	if err != nil {
		failed++
		fmt.Println("FAILED", name, err)
		return
	}
	fmt.Println("ok", name)
}

func until(d time.Duration, f func() bool) error {
	end := time.Now().Add(d)
	for time.Now().Before(end) {
		if f() {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("timed out")
}

func main() {
	base, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		panic(err)
	}
	base.QPS, base.Burst = 500, 500
	base.ContentType = "application/json"
	proto := rest.CopyConfig(base)
	proto.ContentType = "application/vnd.kubernetes.protobuf"
	proto.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for label, config := range map[string]*rest.Config{"json": base, "protobuf": proto} {
		run(ctx, label, config, base)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, label string, config, jsonConfig *rest.Config) {
	client := kubernetes.NewForConfigOrDie(config)
	ns := "go-" + label
	name := func(s string) string { return label + ": " + s }
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
	check(name("create namespace"), err)

	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Second, informers.WithNamespace(ns))
	var adds, updates, deletes atomic.Int64
	cms := factory.Core().V1().ConfigMaps().Informer()
	cms.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { adds.Add(1) }, UpdateFunc: func(a, b any) {
			if a.(*corev1.ConfigMap).ResourceVersion != b.(*corev1.ConfigMap).ResourceVersion {
				updates.Add(1)
			}
		}, DeleteFunc: func(o any) { deletes.Add(1) },
	})
	deploys := factory.Apps().V1().Deployments().Lister()
	factory.Start(ctx.Done())
	synced := factory.WaitForCacheSync(ctx.Done())
	for _, ok := range synced {
		if !ok {
			check(name("informers sync"), fmt.Errorf("not synced"))
		}
	}
	check(name("informers sync"), nil)
	base := adds.Load()
	for i := 0; i < 50; i++ {
		_, err := client.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-", Labels: map[string]string{"go": "1"}}, Data: map[string]string{"i": fmt.Sprint(i)}, BinaryData: map[string][]byte{"b": {0, 1, 255}}}, metav1.CreateOptions{})
		if err != nil {
			check(name("create"), err)
		}
	}
	check(name("informer sees creates"), until(10*time.Second, func() bool { return adds.Load()-base >= 50 }))
	page, err := client.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{LabelSelector: "go=1", Limit: 7})
	check(name("limited list"), err)
	if err == nil && (len(page.Items) != 7 || page.Continue == "") {
		check(name("page"), fmt.Errorf("%d %q", len(page.Items), page.Continue))
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cm, err := client.CoreV1().ConfigMaps(ns).Get(ctx, page.Items[0].Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if string(cm.BinaryData["b"]) != "\x00\x01\xff" {
			return fmt.Errorf("binary data %v", cm.BinaryData)
		}
		cm.Data["x"] = "y"
		_, err = client.CoreV1().ConfigMaps(ns).Update(ctx, cm, metav1.UpdateOptions{})
		return err
	})
	check(name("update"), err)
	stale := page.Items[0]
	stale.Data = map[string]string{"stale": "1"}
	_, err = client.CoreV1().ConfigMaps(ns).Update(ctx, &stale, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		check(name("stale update"), fmt.Errorf("no conflict: %v", err))
	}
	_, err = client.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: page.Items[0].Name}}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		check(name("already exists"), fmt.Errorf("%v", err))
	}
	err = client.CoreV1().ConfigMaps(ns).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "go=1"})
	check(name("delete collection"), err)
	check(name("informer sees deletes"), until(10*time.Second, func() bool { return deletes.Load() >= 50 }))

	// Server-side apply with typed configurations.
	dep := appsac.Deployment("web", ns).WithSpec(appsac.DeploymentSpec().WithReplicas(2).
		WithSelector(metaac.LabelSelector().WithMatchLabels(map[string]string{"app": "web"})).
		WithTemplate(coreac.PodTemplateSpec().WithLabels(map[string]string{"app": "web"}).
			WithSpec(coreac.PodSpec().WithContainers(coreac.Container().WithName("c").WithImage("nginx:1")))))
	applied, err := client.AppsV1().Deployments(ns).Apply(ctx, dep, metav1.ApplyOptions{FieldManager: "go", Force: true})
	check(name("apply"), err)
	if err == nil {
		extracted, err := appsac.ExtractDeployment(applied, "go")
		check(name("extract"), err)
		if extracted.Spec == nil || extracted.Spec.Replicas == nil || *extracted.Spec.Replicas != 2 {
			check(name("extracted"), fmt.Errorf("%+v", extracted.Spec))
		}
	}
	check(name("deployment becomes available"), until(20*time.Second, func() bool {
		d, err := deploys.Deployments(ns).Get("web")
		return err == nil && d.Status.AvailableReplicas == 2 && d.Status.ObservedGeneration == d.Generation
	}))
	scale, err := client.AppsV1().Deployments(ns).GetScale(ctx, "web", metav1.GetOptions{})
	check(name("get scale"), err)
	scale.Spec.Replicas = 1
	_, err = client.AppsV1().Deployments(ns).UpdateScale(ctx, "web", scale, metav1.UpdateOptions{})
	check(name("update scale"), err)
	_, err = client.AppsV1().Deployments(ns).Patch(ctx, "web", types.StrategicMergePatchType, []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"B"}]}]}}}}`), metav1.PatchOptions{})
	check(name("strategic patch"), err)
	bg := metav1.DeletePropagationForeground
	check(name("foreground delete"), client.AppsV1().Deployments(ns).Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: &bg}))
	check(name("informer sees it go"), until(20*time.Second, func() bool {
		_, err := deploys.Deployments(ns).Get("web")
		return apierrors.IsNotFound(err)
	}))

	// Events through a recorder.
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "go"})
	cm, err := client.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "seen"}}, metav1.CreateOptions{})
	check(name("create"), err)
	for i := 0; i < 3; i++ {
		recorder.Event(cm, "Normal", "Tested", "hello")
	}
	check(name("events are recorded and counted"), until(10*time.Second, func() bool {
		l, err := client.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=seen"})
		return err == nil && len(l.Items) == 1 && l.Items[0].Count == 3
	}))
	broadcaster.Shutdown()

	// Two candidates, one leader, handed over.
	lead := func(id string, ctx context.Context, led chan<- string) {
		lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "leader", Namespace: ns}, Client: client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: id}}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{Lock: lock, ReleaseOnCancel: true, LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 500 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { led <- id }, OnStoppedLeading: func() {}}})
	}
	led := make(chan string, 4)
	first, cancelFirst := context.WithCancel(ctx)
	go lead("a", first, led)
	one := <-led
	second, cancelSecond := context.WithCancel(ctx)
	go lead("b", second, led)
	cancelFirst()
	select {
	case two := <-led:
		if one == two {
			check(name("leader election"), fmt.Errorf("%s twice", one))
		} else {
			check(name("leader election"), nil)
		}
	case <-time.After(15 * time.Second):
		check(name("leader election"), fmt.Errorf("nobody took over"))
	}
	cancelSecond()

	// A custom resource through the dynamic client and informer, and metadata only.
	dyn := dynamic.NewForConfigOrDie(jsonConfig)
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	gvr := schema.GroupVersionResource{Group: label + ".go.example", Version: "v1", Resource: "things"}
	crd := map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "things." + gvr.Group},
		"spec": map[string]any{"group": gvr.Group, "scope": "Namespaced", "names": map[string]any{"plural": "things", "kind": "Thing"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}}, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}}
	_, err = dyn.Resource(crds).Create(ctx, &unstructured.Unstructured{Object: crd}, metav1.CreateOptions{})
	check(name("create definition"), err)
	check(name("definition is established"), until(10*time.Second, func() bool {
		_, err := dyn.Resource(gvr).Namespace(ns).List(ctx, metav1.ListOptions{})
		return err == nil
	}))
	things := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dyn, 0, ns, nil)
	inf := things.ForResource(gvr).Informer()
	var thingEvents atomic.Int64
	inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { thingEvents.Add(1) }, UpdateFunc: func(any, any) { thingEvents.Add(1) }, DeleteFunc: func(any) { thingEvents.Add(1) }})
	tctx, tstop := context.WithCancel(ctx)
	things.Start(tctx.Done())
	things.WaitForCacheSync(tctx.Done())
	thing := &unstructured.Unstructured{Object: map[string]any{"apiVersion": gvr.Group + "/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"}, "spec": map[string]any{"n": int64(1)}}}
	_, err = dyn.Resource(gvr).Namespace(ns).Apply(ctx, "t", thing, metav1.ApplyOptions{FieldManager: "go"})
	check(name("apply a custom resource"), err)
	_, err = dyn.Resource(gvr).Namespace(ns).Patch(ctx, "t", types.MergePatchType, []byte(`{"status":{"ok":true}}`), metav1.PatchOptions{}, "status")
	check(name("patch its status"), err)
	md := metadata.NewForConfigOrDie(config)
	m, err := md.Resource(gvr).Namespace(ns).Get(ctx, "t", metav1.GetOptions{})
	check(name("metadata only"), err)
	if err == nil && m.Name != "t" {
		check(name("metadata"), fmt.Errorf("%+v", m))
	}
	check(name("delete it"), dyn.Resource(gvr).Namespace(ns).Delete(ctx, "t", metav1.DeleteOptions{}))
	check(name("dynamic informer saw it all"), until(10*time.Second, func() bool { return thingEvents.Load() >= 3 }))
	tstop()
	check(name("delete definition"), dyn.Resource(crds).Delete(ctx, "things."+gvr.Group, metav1.DeleteOptions{}))
	check(name("delete namespace"), client.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{}))
	check(name("namespace goes"), until(30*time.Second, func() bool {
		_, err := client.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}))
}
