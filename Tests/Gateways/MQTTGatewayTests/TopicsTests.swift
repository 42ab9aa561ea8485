import Bluetooth
import MQTTGateway
import Testing

struct TopicsTests {
  private let topics = Topics(base: "home", gateway: "kitchen")

  @Test func namesAreThoseOfOpenMQTTGateway() throws {
    let address = try #require(DeviceAddress("c0:de:00:00:0a:01", kind: .random))
    #expect(topics.device(address) == "home/kitchen/BTtoMQTT/C0DE00000A01")
    #expect(topics.anyGateway(address) == "home/+/BTtoMQTT/C0DE00000A01")
    #expect(topics.value(address, 0x2A37) == "home/kitchen/BTtoMQTT/C0DE00000A01/2A37")
    #expect(topics.availability == "home/kitchen/LWT")
  }

  @Test(arguments: [
    ("home/kitchen/commands/MQTTtoBT", true), ("home/kitchen/commands/MQTTtoBT/config", true),
    ("home/kitchen/commands/MQTTtoBT/", false), ("home/kitchen/commands/MQTTtoBT/other", false),
    ("home/cellar/commands/MQTTtoBT", false),
  ])
  func commandsComeOnTwoTopics(_ topic: String, _ isCommand: Bool) {
    #expect(topics.isCommand(topic) == isCommand)
  }

  @Test(arguments: [
    ("app/answers/1", true), ("", false), ("$SYS/x", false), ("a/+/b", false), ("a/#", false), ("a\u{0}b", false),
    ("home/cellar/commands/MQTTtoBT", false), (String(repeating: "a", count: 257), false),
  ])
  func answersGoToPlainTopicsAlone(_ topic: String, _ isAnswerable: Bool) {
    #expect(Topics.isAnswerable(topic) == isAnswerable)
  }
}
