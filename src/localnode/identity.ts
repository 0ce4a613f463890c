/** Under which names the parts of the local node write, as in any cluster. */
export const controllerManager = "kube-controller-manager";
export const kubelet = "kubelet";
export const scheduler = "kube-scheduler";
