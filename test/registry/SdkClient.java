import ai.wanaku.capabilities.sdk.api.discovery.DiscoveryCallback;
import ai.wanaku.capabilities.sdk.api.discovery.RegistrationManager;
import ai.wanaku.capabilities.sdk.api.types.providers.ServiceTarget;
import ai.wanaku.capabilities.sdk.api.types.providers.ServiceType;
import ai.wanaku.capabilities.sdk.common.config.DefaultServiceConfig;
import ai.wanaku.capabilities.sdk.common.serializer.Serializer;
import ai.wanaku.capabilities.sdk.discovery.DiscoveryServiceHttpClient;
import ai.wanaku.capabilities.sdk.discovery.ZeroDepRegistrationManager;
import ai.wanaku.capabilities.sdk.discovery.config.DefaultRegistrationConfig;
import ai.wanaku.capabilities.sdk.discovery.deserializer.JacksonDeserializer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A service as users of Wanaku 0.0.9 write it: registers, sends heartbeats, reports trouble, says goodbye. */
public class SdkClient {
  public static void main(String[] args) throws Exception {
    String url = args[0];
    String dataDir = args[1];
    String issuer = args[2];
    Serializer serializer = new InstantSerializer();
    DefaultServiceConfig service = DefaultServiceConfig.Builder.newBuilder()
        .baseUrl(url).serializer(serializer).clientId("wanaku-service").secret("secret").tokenEndpoint(issuer)
        .build();
    DefaultRegistrationConfig registration = DefaultRegistrationConfig.Builder.newBuilder()
        .initialDelay(0).period(1).dataDir(dataDir).maxRetries(3).waitSeconds(1).build();
    ServiceTarget target = ServiceTarget.newEmptyTarget("java-tool", "127.0.0.1", 9009, ServiceType.TOOL_INVOKER);
    CountDownLatch pings = new CountDownLatch(2);
    ZeroDepRegistrationManager manager = new ZeroDepRegistrationManager(
        new DiscoveryServiceHttpClient(service), target, registration, new JacksonDeserializer());
    manager.addCallBack(new DiscoveryCallback() {
      public void onPing(RegistrationManager m, ServiceTarget t, int status) { say("ping " + status); pings.countDown(); }
      public void onRegistration(RegistrationManager m, ServiceTarget t) { say("registered " + t.getId()); }
      public void onDeregistration(RegistrationManager m, ServiceTarget t, int status) { say("deregistered " + status); }
    });
    manager.start();
    say(pings.await(30, TimeUnit.SECONDS) ? "pinged" : "no pings");
    manager.lastAsFail("database away");
    say("failed");
    System.in.read();
    manager.lastAsSuccessful();
    manager.deregister();
    System.exit(0);
  }

  static void say(String text) { System.out.println(text); System.out.flush(); }

  /** The SDK's own serializer cannot write an Instant, so applications bring one that can. */
  static class InstantSerializer implements Serializer {
    private final com.fasterxml.jackson.databind.ObjectMapper mapper = new com.fasterxml.jackson.databind.ObjectMapper()
        .registerModule(new com.fasterxml.jackson.databind.module.SimpleModule()
            .addSerializer(java.time.Instant.class, new com.fasterxml.jackson.databind.ser.std.ToStringSerializer()));
    public String serialize(Object value) throws com.fasterxml.jackson.core.JsonProcessingException {
      return mapper.writeValueAsString(value);
    }
  }
}
