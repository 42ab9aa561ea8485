import BledRPC
import Bluetooth
import BondedDevices
import Testing

@testable import HIDGateway

@Suite("A bonded device")
struct HIDDeviceTests {
  private let failure = GAPError.timeout.error("no answer")

  /// A device whose services are known and whose values are read.
  private func ready(
    _ services: [ServiceDescription] = Keyboard.services, _ values: [UInt16: [UInt8]] = Keyboard.values,
    level: SecurityLevel = .secureConnections
  ) -> (device: HIDDevice, actions: [HIDDevice.Action]) {
    var device = HIDDevice(Keyboard.bond(Word(level)))
    connect(&device)
    let actions = discovered(&device, services, values)
    return (device, actions)
  }

  /// The device is connected, and its link protected.
  private func connect(_ device: inout HIDDevice) {
    #expect(device.handle(.begin) == [.call(.connect)])
    #expect(
      device.handle(.answer(.connect, .success(.connected(adapter: Keyboard.adapter)))) == [.call(.parameters)])
    #expect(device.handle(.answer(.parameters, .success(.parameters(.secureConnections)))) == [.call(.discover)])
  }

  /// Answers the discovery and the reads that it leads to; gives the last actions.
  private func discovered(
    _ device: inout HIDDevice, _ services: [ServiceDescription], _ values: [UInt16: [UInt8]]
  ) -> [HIDDevice.Action] {
    var actions = device.handle(.answer(.discover, .success(.services(services))))
    while case .call(.read(let first))? = actions.first(where: { if case .call(.read) = $0 { true } else { false } }) {
      let reads = actions.compactMap { if case .call(.read(let handle)) = $0 { handle } else { nil } }
      #expect(reads.first == first)
      actions = reads.flatMap { handle in
        device.handle(
          .answer(
            .read(handle),
            values[handle].map { .success(.value($0, isWhole: true)) }
              ?? .failure(Failure.refusal)))
      }
    }
    return actions
  }

  private func creation(_ actions: [HIDDevice.Action], _ service: Int = 0) -> UhidDescription? {
    actions.compactMap { action in
      if case .output(let output) = action, output.service == service, case .create(let description) = output.request {
        description
      } else {
        nil
      }
    }.first
  }

  private func words(_ actions: [HIDDevice.Action]) -> String {
    actions.compactMap { if case .say(let text) = $0 { text } else { nil } }.joined(separator: "\n")
  }

  @Test("A keyboard becomes a device of the kernel")
  func keyboard() {
    var (device, actions) = ready()
    #expect(
      creation(actions)
        == UhidDescription(
          name: "Desk keyboard", location: "02:00:00:00:00:0a", identity: "f0:f1:f2:f3:f4:01", vendor: 0x046D,
          product: 0xB34A, version: 0x0102, country: 33, map: Maps.keyboard))
    #expect(actions.contains(.call(.subscribe(30))) && actions.contains(.call(.subscribe(50))))
    #expect(!actions.contains(.call(.subscribe(17))), "the battery's level is no report")
    #expect(words(actions) == "")
    #expect(device.isReady)
    _ = device.handle(.kernel(service: 0, .start))
    #expect(
      device.handle(.value(30, [0, 0, 4, 0, 0, 0, 0, 0]))
        == [.kernel(service: 0, .input([1, 0, 0, 4, 0, 0, 0, 0, 0]))])
    #expect(
      device.handle(.kernel(service: 0, .output(.output, [1, 2]))) == [.call(.write(40, [2], response: false))])
  }

  @Test("Connected again with the same attributes, nothing is read")
  func again() {
    var (device, _) = ready()
    _ = device.handle(.kernel(service: 0, .start))
    #expect(device.handle(.disconnected(isReconnecting: true)) == [])
    #expect(!device.isReady)
    #expect(device.handle(.connected(adapter: Keyboard.adapter)) == [.call(.parameters)])
    #expect(device.handle(.value(30, [0, 0, 4, 0, 0, 0, 0, 0])) == [], "not checked")
    #expect(device.handle(.answer(.parameters, .success(.parameters(.secureConnections)))) == [.call(.discover)])
    #expect(
      device.handle(.answer(.discover, .success(.services(Keyboard.services))))
        == [.learned(hasService: true), .call(.subscribe(30)), .call(.subscribe(50))])
    #expect(device.isReady)
  }

  @Test("Other attributes than before: another device of the kernel")
  func changed() {
    var (device, _) = ready()
    #expect(device.handle(.servicesChanged) == [.call(.discover)])
    let services = Keyboard.services.map { service in
      service.uuid == 0x1812
        ? Keyboard.service(0x1812, 20, (service.characteristics ?? []).filter { $0.handle != 50 }) : service
    }
    let actions = discovered(&device, services, Keyboard.values)
    #expect(actions.first == .kernel(service: 0, .destroy))
    #expect(creation(actions) != nil)
    #expect(!actions.contains(.call(.subscribe(50))))
  }

  @Test("A device without HID is let go")
  func other() {
    var (device, actions) = ready(Array(Keyboard.services.dropLast()))
    #expect(actions == [.learned(hasService: false), .call(.disconnect)])
    #expect(device.link.isLeftAlone)
    #expect(device.handle(.begin) == [])
  }

  @Test("Failures are tried again after pauses that grow up to a minute")
  func pauses() {
    var device = HIDDevice(Keyboard.bond())
    var pauses: [Duration] = []
    for attempt in 0..<8 {
      _ = device.handle(.begin)
      let actions = device.handle(.answer(.connect, .failure(failure)))
      #expect((words(actions) != "") == (attempt == 0), "said once")
      pauses += actions.compactMap { if case .pause(let duration) = $0 { duration } else { nil } }
    }
    #expect(pauses == [2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
  }

  @Test("A failed discovery or subscription ends the link, and is tried again")
  func failedSteps() {
    var (device, _) = ready()
    let actions = device.handle(.answer(.subscribe(30), .failure(failure)))
    #expect(actions.first == .call(.disconnect))
    #expect(actions.last == .pause(.seconds(2)))
    connect(&device)
    let again = device.handle(.answer(.discover, .failure(failure)))
    #expect(again.first == .call(.disconnect))
    #expect(again.last == .pause(.seconds(4)), "the subscription did not succeed in between")
  }

  @Test("A subscription that the device refuses is said, and the others are used")
  func refusedSubscription() {
    var (device, _) = ready()
    let actions = device.handle(.answer(.subscribe(30), .failure(Failure.refusal)))
    #expect(actions.count == 1 && words(actions).contains("refuses the subscription to the report of handle 30"))
    #expect(device.handle(.answer(.subscribe(50), .success(.done))) == [])
    #expect(device.isReady)
  }

  @Test("Attributes that could not be read for want of a link are read again")
  func failedReads() {
    var device = HIDDevice(Keyboard.bond())
    connect(&device)
    _ = device.handle(.answer(.discover, .success(.services(Keyboard.services))))
    #expect(device.handle(.answer(.read(24), .failure(failure))).first == .call(.disconnect))
    connect(&device)
    #expect(creation(discovered(&device, Keyboard.services, Keyboard.values)) != nil)
  }

  @Test("A device that has paired anew is checked and read again")
  func pairedAnew() {
    var (device, _) = ready()
    #expect(device.handle(.paired) == [.call(.parameters)])
    #expect(device.handle(.answer(.parameters, .success(.parameters(.secureConnections)))) == [.call(.discover)])
    #expect(creation(discovered(&device, Keyboard.services, Keyboard.values)) != nil)
  }

  @Test("A device that shows no HID service once is connected again")
  func servicesGone() {
    var (device, _) = ready()
    _ = device.handle(.servicesChanged)
    let actions = device.handle(.answer(.discover, .success(.services([]))))
    #expect(actions.first == .call(.disconnect) && actions.last == .pause(.seconds(2)))
    #expect(!actions.contains(.learned(hasService: false)))
  }

  @Test("Lost values release keys", arguments: [HIDDevice.Input.valuesLost, .subscriptionLost(30)])
  func lostValues(input: HIDDevice.Input) {
    var (device, _) = ready()
    _ = device.handle(.kernel(service: 0, .start)) + device.handle(.value(30, [0, 0, 4, 0, 0, 0, 0, 0]))
    let release = HIDDevice.Action.kernel(service: 0, .input([1] + [UInt8](repeating: 0, count: 8)))
    let actions = device.handle(input)
    #expect(actions.first == release)
    #expect(actions.contains { if case .say = $0 { true } else { false } })
    #expect(!device.handle(input).contains(release))
  }

  @Test("It works once the kernel has accepted it")
  func accepted() {
    var (device, _) = ready()
    #expect(!device.isWorking)
    _ = device.handle(.kernel(service: 0, .start))
    #expect(device.isWorking)
  }

  @Test("After a refusal of the kernel its device is made anew")
  func kernelRefuses() {
    var (device, _) = ready()
    let actions = device.handle(.kernelFailed(service: 0))
    #expect(actions == [.call(.disconnect), .pause(.seconds(2))])
    connect(&device)
    #expect(creation(device.handle(.answer(.discover, .success(.services(Keyboard.services))))) != nil)
  }

  @Test("Of many HID services eight are used")
  func manyServices() {
    let services = (0..<100).map { (number: UInt16) in
      Keyboard.service(0x1812, number * 4 + 1, [Keyboard.characteristic(0x2A4B, number * 4 + 2, ["read"])])
    }
    var device = HIDDevice(Keyboard.bond())
    connect(&device)
    let actions = device.handle(.answer(.discover, .success(.services(services))))
    #expect(actions.count { if case .call(.read) = $0 { true } else { false } } == 8)
  }

  @Test("An answer belongs to its link")
  func links() {
    var (device, _) = ready()
    let link = device.link.number
    _ = device.handle(.disconnected(isReconnecting: true))
    #expect(device.link.number != link)
  }

  @Test("Two HID services are two devices; one with a hostile map is left to the kernel")
  func twoServices() {
    let second = Keyboard.service(
      0x1812, 100,
      [
        Keyboard.characteristic(0x2A4B, 102, ["read"]),
        Keyboard.characteristic(0x2A4D, 104, ["read", "notify"], [0x2902, 0x2908]),
      ])
    var values = Keyboard.values
    (values[102], values[106]) = (Maps.mouse, [0, 1])
    var (device, actions) = ready(Keyboard.services + [second], values)
    #expect(creation(actions, 0)?.map == Maps.keyboard)
    #expect(creation(actions, 1)?.map == Maps.mouse)
    _ = device.handle(.kernel(service: 1, .start))
    #expect(device.handle(.value(104, [1, 0, 0])) == [.kernel(service: 1, .input([1, 0, 0]))])

    values[24] = [0xC0, 0xC0]
    (device, actions) = ready(Keyboard.services + [second], values)
    #expect(creation(actions, 0)?.map == [0xC0, 0xC0] && creation(actions, 1) != nil)
    #expect(words(actions).contains("the report map closes"))
    _ = device.handle(.kernel(service: 0, .start))
    #expect(device.handle(.value(30, [4])) == [.kernel(service: 0, .input([1, 4]))], "as the device sent it")
    #expect(device.handle(.disconnected(isReconnecting: true)).contains(.kernel(service: 0, .destroy)))
    (values[24], values[102]) = ([], [])
    (device, actions) = ready(Keyboard.services + [second], values)
    #expect(actions.last == .call(.disconnect))
    #expect(device.link.isLeftAlone)
  }

  @Test("A report map that is cut off is not used")
  func truncated() {
    var device = HIDDevice(Keyboard.bond())
    connect(&device)
    let services = [
      Keyboard.service(0x1812, 20, [Keyboard.characteristic(0x2A4B, 24, ["read"])])
    ]
    _ = device.handle(.answer(.discover, .success(.services(services))))
    let actions = device.handle(.answer(.read(24), .success(.value(Maps.mouse, isWhole: false))))
    #expect(words(actions).contains("cannot be read whole"))
  }

  @Test("A report without a reference has its type by its properties, unless reports have numbers")
  func absentReferences() {
    let services = [
      Keyboard.service(
        0x1812, 20,
        [
          Keyboard.characteristic(0x2A4B, 24, ["read"]),
          Keyboard.characteristic(0x2A4D, 30, ["read", "notify"], [0x2902]),
        ])
    ]
    let (device, actions) = ready(services, [24: Maps.mouse])
    #expect(device.isReady)
    #expect(actions.contains(.call(.subscribe(30))))
    #expect(
      words(ready(services, [24: Maps.keyboard]).actions).contains("no report of the device is in its report map"))
  }

  @Test("A number in the reference of a report is ignored where the map has none")
  func strayNumber() {
    let services = [
      Keyboard.service(
        0x1812, 20,
        [
          Keyboard.characteristic(0x2A4B, 24, ["read"]),
          Keyboard.characteristic(0x2A4D, 30, ["read", "notify"], [0x2902, 0x2908]),
        ])
    ]
    var (device, actions) = ready(services, [24: Maps.mouse, 32: [1, 1]])
    #expect(actions.contains(.call(.subscribe(30))) && words(actions) == "")
    _ = device.handle(.kernel(service: 0, .start))
    #expect(device.handle(.value(30, [1, 2, 3])) == [.kernel(service: 0, .input([1, 2, 3]))])
  }

  @Test("A map refers to a report in another service")
  func external() {
    let services = [
      Keyboard.service(0x180F, 15, [Keyboard.characteristic(0x2A19, 17, ["read", "notify"], [0x2902, 0x2908])]),
      Keyboard.service(
        0x1812, 20,
        [
          Keyboard.characteristic(0x2A4B, 24, ["read"], [0x2907]),
          Keyboard.characteristic(0x2A4D, 30, ["read", "notify"], [0x2902, 0x2908]),
        ]),
    ]
    var values: [UInt16: [UInt8]] = [24: Maps.keyboard, 25: [0x19, 0x2A], 32: [1, 1], 19: [2, 1]]
    #expect(ready(services, values).actions.contains(.call(.subscribe(17))))
    values[25] = [0x1A, 0x2A]
    #expect(!ready(services, values).actions.contains(.call(.subscribe(17))), "another characteristic")
  }

  @Test("A device in boot mode is set to report mode")
  func bootMode() {
    var values = Keyboard.values
    values[26] = [0]
    #expect(ready(Keyboard.services, values).actions.contains(.call(.write(26, [1], response: false))))
  }

  @Test("A keyboard that was paired by Just Works is used, and named in the log")
  func justWorks() {
    let (device, actions) = ready(level: .encrypted)
    #expect(device.isReady)
    #expect(words(actions).contains("without protection against a person in the middle"))
  }

  @Test("The kernel's requests are answered once, also at the end of the link")
  func requests() {
    var (device, _) = ready()
    let set = HIDDevice.Call.set(40, [2], response: true, service: 0, request: 7)
    #expect(
      device.handle(.kernel(service: 0, .setReport(request: 7, ReportKey(.output, 1), [1, 2]))) == [.call(set)])
    #expect(
      device.handle(.answer(set, .success(.done))) == [.kernel(service: 0, .reportSet(request: 7, isDone: true))])
    let get = HIDDevice.Call.get(30, service: 0, request: 8)
    #expect(device.handle(.kernel(service: 0, .getReport(request: 8, ReportKey(.input, 1)))) == [.call(get)])
    #expect(device.handle(.sessionLost) == [.kernel(service: 0, .report(request: 8, nil))])
    #expect(device.handle(.answer(get, .success(.value([], isWhole: true)))) == [])
  }

  @Test("Of output reports beyond the bound the newest is written; that others are not is said once")
  func flood() {
    var (device, _) = ready()
    var actions: [HIDDevice.Action] = []
    for value in 0..<100 { actions += device.handle(.kernel(service: 0, .output(.output, [1, UInt8(value)]))) }
    #expect(actions.count == 65)
    let answer = HIDDevice.Input.answer(.write(40, [0], response: false), .success(.done))
    #expect(device.handle(answer) == [.call(.write(40, [99], response: false))])
    #expect(device.handle(answer) == [])
    #expect(device.handle(.kernel(service: 0, .output(.output, [1, 2]))).count == 1)
  }

  @Test("Without its keys a device ends")
  func forgotten() {
    var (device, _) = ready()
    #expect(device.handle(.forgotten) == [.kernel(service: 0, .destroy)])
  }
}

extension DeviceAction<HIDDevice.Call, HIDDevice.Output> {
  fileprivate static func kernel(service: Int, _ request: UhidRequest) -> Self {
    .output(HIDDevice.Output(service: service, request: request))
  }
}
