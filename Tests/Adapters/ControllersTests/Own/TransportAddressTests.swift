import Controllers
import Testing

@Suite struct TransportAddressTests {
  @Test(
    arguments: [
      ("unix:/run/hci", .unix("/run/hci")), ("unix:@hci", .unix("@hci")),
      ("tcp:6402", .tcp(host: "127.0.0.1", port: 6402)), ("tcp:localhost:6402", .tcp(host: "127.0.0.1", port: 6402)),
      ("tcp:10.0.0.2:6402", .tcp(host: "10.0.0.2", port: 6402)), ("tcp:[::1]:6402", .tcp(host: "::1", port: 6402)),
      ("/dev/ttyACM0", .serial("/dev/ttyACM0", speed: 1_000_000)),
      ("/dev/ttyUSB0,115200", .serial("/dev/ttyUSB0", speed: 115_200)),
      ("/dev/ttyS1,noflow", .serial("/dev/ttyS1", speed: 1_000_000, hasFlowControl: false)),
      ("/dev/ttyS1,921600,noflow", .serial("/dev/ttyS1", speed: 921_600, hasFlowControl: false)),
    ] as [(String, TransportAddress)])
  func addresses(_ text: String, _ address: TransportAddress) throws {
    #expect(try TransportAddress(text) == address)
    // Its own description has the same meaning.
    #expect(try TransportAddress("\(address)") == address)
  }

  @Test(
    arguments: [
      ("user:hci1", .user(1)), ("user:hci0", .user(0)), ("h4:tcp:6402", .h4(.tcp(host: "127.0.0.1", port: 6402))),
      ("h4:unix:@hci", .h4(.unix("@hci"))), ("hci1", nil), ("simulated", nil),
    ] as [(String, ControllerAddress?)])
  func controllers(_ text: String, _ address: ControllerAddress?) throws {
    #expect(try ControllerAddress(text) == address)
    if let address { #expect(try ControllerAddress("\(address)") == address) }
  }

  @Test(arguments: [
    "user:", "user:1", "user:hci", "user:hci01", "user:hci-1", "user:hci65535", "user:hci+1", "h4:hci1",
  ])
  func otherControllers(_ text: String) {
    #expect(throws: TransportAddress.Fault.self) { try ControllerAddress(text) }
  }

  @Test(arguments: [
    "", "unix:", "unix:@", "unix:relative", "unix:/" + String(repeating: "a", count: 107), "unix:/a\0b", "tcp:",
    "tcp:0",
    "tcp:65536", "tcp:-1", "tcp:host:6402", "tcp::6402", "tcp:1.2.3.4:", "/dev/ttyACM0,", "/dev/ttyACM0,1",
    "/dev/ttyACM0,115200,rtscts", "/dev/ttyS1,noflow,115200", "/dev/ttyS1,noflow,noflow", "serial:/dev/ttyACM0",
    "usb:0",
  ])
  func others(_ text: String) {
    #expect(throws: TransportAddress.Fault.self) { try TransportAddress(text) }
  }
}
