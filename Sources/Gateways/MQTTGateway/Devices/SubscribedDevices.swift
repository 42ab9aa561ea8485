import BledConnection
import BledRPC
import Bluetooth
import ValueFormats

/// The devices to which the gateway stays connected: one machine each.
///
/// | State      | Input                        | Next       | Calls                                                    |
/// |------------|------------------------------|------------|----------------------------------------------------------|
/// | away       | session began                | connecting | peripheral.connect, which waits, with `reconnect`        |
/// | connecting | answer: connected            | linked     | gatt.subscribe for each characteristic                   |
/// | connecting | answer: failed               | paused     |                                                          |
/// | linked     | subscribed                   | linked     | the descriptors with the name and the format are read    |
/// | linked     | a subscription failed, ended | linked     | gatt.subscribe for it, after a pause                     |
/// | linked     | disconnected, reconnecting   | lost       |                                                          |
/// | linked     | disconnected                 | paused     |                                                          |
/// | linked     | services changed             | linked     | gatt.subscribe for those in the range, or unsubscribed   |
/// | lost       | connected                    | linked     | as from `connecting`                                     |
/// | lost       | connect failed               | paused     |                                                          |
/// | paused     | the pause is over            | connecting | peripheral.connect                                       |
/// | any        | session lost                 | away       |                                                          |
///
/// A device that has been waited for, connecting or lost, for a minute is logged once, with the reason that bled knows,
/// and again when it is linked.
final class SubscribedDevices {
  /// A value of a device.
  struct Value {
    let device: SubscribedDevice
    let peripheral: String
    let characteristic: SubscribedDevice.Characteristic
    let handle: UInt16
    /// The name and the format of the characteristic.
    let naming: AttributeNaming
    let octets: [UInt8]
  }

  private enum State: Hashable {
    case away
    case connecting
    case linked(String)
    case lost(String)
    case paused
  }

  private struct Entry {
    let device: SubscribedDevice
    var state = State.away
    /// The characteristics that are subscribed to, by the handles of their values.
    var handles: [UInt16: Int] = [:]
    /// The characteristics with an awaited subscription.
    var awaited: Set<Int> = []
    /// The names and formats of the characteristics, which stay for the next link, and their handles.
    var namings: [Int: (handle: UInt16, naming: AttributeNaming)] = [:]
    /// The number of consecutive failures.
    var failures = 0
    /// Distinguishes the links of the device: an answer to a call on an earlier one has no effect.
    var link = 0
    /// The last logged failures of the connection, which is nil, and of subscriptions, until they succeed.
    var failureTexts: [Int?: String] = [:]
    var absence: (any ScheduledWork)?
    var isSaidAbsent = false
  }

  /// The time in `connecting` or `lost` until a device is logged as absent.
  private static let absenceTime = Duration.seconds(60)

  private let clock: any Scheduler
  /// The names and formats that the owner of the machine gives.
  private let names: NameList
  private var entries: [Entry]
  private var session: DaemonSession?
  /// Distinguishes the sessions.
  private var era = 0
  /// A value was received.
  var received: (Value) -> Void = { _ in }
  var say: (String) -> Void = { _ in }
  private(set) var connections: UInt64 = 0

  init(_ devices: [SubscribedDevice], _ names: NameList, _ clock: any Scheduler) {
    entries = devices.map { Entry(device: $0) }
    self.names = names
    self.clock = clock
  }

  /// The number of connected devices.
  var linked: Int { entries.count { if case .linked = $0.state { true } else { false } } }

  /// The identifier of a connected device, so that others can use its link; nil if it is not in the list.
  func link(to address: DeviceAddress) -> Link? {
    guard let entry = entries.first(where: { $0.device.address.value == address.value }) else { return nil }
    if case .linked(let peripheral) = entry.state { return .linked(peripheral) }
    return .waiting
  }

  /// The connection of a device in the list.
  enum Link: Hashable {
    case linked(String)
    case waiting
  }

  func began(_ session: DaemonSession) {
    self.session = session
    era += 1
    for index in entries.indices { connect(index) }
  }

  func lost() {
    session = nil
    era += 1
    for index in entries.indices {
      leave(index, .away)
      stopAwaitingLink(index)
    }
  }

  // MARK: Connections

  private func connect(_ index: Int) {
    guard let session else { return }
    let device = entries[index].device
    entries[index].state = .connecting
    awaitLink(index)
    session.call(
      PeripheralConnect.self,
      PeripheralConnect.Params(
        address: "\(device.address)", addressType: device.hasType ? device.address.kind : nil, reconnect: true)
    ) { [weak self, era] result in
      guard let self, self.era == era else { return }
      switch result {
      case .success(let link): linked(index, link.peripheral)
      case .failure(let error):
        sayOnce(index, "\(device.title) cannot be connected to, which is tried again: \(error.message)")
        pause(index)
      }
    }
  }

  private func pause(_ index: Int) {
    leave(index, .paused)
    stopAwaitingLink(index)
    after(index) { $0.connect(index) }
  }

  /// There is no link: removes all of its state.
  private func leave(_ index: Int, _ state: State) {
    entries[index].state = state
    (entries[index].handles, entries[index].awaited) = ([:], [])
    entries[index].link += 1
  }

  /// Does something after a pause that grows with the number of failures, unless the session or the link has changed.
  private func after(_ index: Int, _ work: @escaping (SubscribedDevices) -> Void) {
    entries[index].failures += 1
    let seconds = min(60, 1 << min(entries[index].failures, 6))
    let (era, link) = (era, entries[index].link)
    clock.schedule(after: .seconds(seconds)) { [weak self] in
      guard let self, self.era == era, entries[index].link == link else { return }
      work(self)
    }
  }

  private func linked(_ index: Int, _ peripheral: String) {
    leave(index, .linked(peripheral))
    connections += 1
    entries[index].failureTexts[nil] = nil
    stopAwaitingLink(index)
    if entries[index].isSaidAbsent { say("\(entries[index].device.title) is connected") }
    entries[index].isSaidAbsent = false
    for place in entries[index].device.characteristics.indices { subscribe(index, place) }
  }

  private func subscribe(_ index: Int, _ place: Int) {
    guard let session, case .linked(let peripheral) = entries[index].state,
      !entries[index].handles.values.contains(place), entries[index].awaited.insert(place).inserted
    else { return }
    let path = entries[index].device.characteristics[place]
    let link = entries[index].link
    session.call(
      GATTSubscribe.self,
      GATTSubscribe.Params(
        peripheral: peripheral, attribute: .characteristic(path.characteristic, of: path.service))
    ) { [weak self, era] result in
      guard let self, self.era == era, entries[index].link == link else { return }
      subscribed(index, place, result, on: peripheral)
    }
  }

  private func subscribed(
    _ index: Int, _ place: Int, _ result: Result<AttributeFound, BluetoothError>, on peripheral: String
  ) {
    entries[index].awaited.remove(place)
    let device = entries[index].device
    switch result {
    case .success(let found):
      (entries[index].failures, entries[index].failureTexts[place]) = (0, nil)
      guard let handle = found.handle else { return }
      entries[index].handles[handle] = place
      if entries[index].namings[place]?.handle != handle {
        entries[index].namings[place] = (handle, AttributeNaming(list: names, address: "\(device.address)"))
      }
      describe(index, place, handle, on: peripheral)
    case .failure(let error):
      let name = "\(device.characteristics[place].characteristic) of \(device.title)"
      sayOnce(index, "\(name) cannot be subscribed to, which is tried again: \(error.message)", of: place)
      after(index) { $0.subscribe(index, place) }
    }
  }

  /// Reads the name and the format of a characteristic behind its subscription: no value waits for them.
  private func describe(_ index: Int, _ place: Int, _ handle: UInt16, on peripheral: String) {
    let (device, link) = (entries[index].device, entries[index].link)
    session?.readDescriptions(of: device.characteristics[place], on: peripheral) { [weak self, era] descriptions in
      guard let self, self.era == era, entries[index].link == link, entries[index].handles[handle] == place,
        !descriptions.isEmpty
      else { return }
      var naming = AttributeNaming(list: names, address: "\(device.address)")
      for description in descriptions { naming.received(description.descriptor, description.value, of: handle) }
      entries[index].namings[place] = (handle, naming)
    }
  }

  // MARK: The log

  /// Logs a failure of the connection, or of a subscription, unless it was logged before.
  private func sayOnce(_ index: Int, _ text: String, of place: Int? = nil) {
    guard entries[index].failureTexts[place] != text else { return }
    entries[index].failureTexts[place] = text
    say(text)
  }

  /// A device is waited for: that is logged if it lasts, also after a failure.
  private func awaitLink(_ index: Int) {
    guard entries[index].absence == nil, !entries[index].isSaidAbsent else { return }
    entries[index].absence = clock.schedule(after: Self.absenceTime) { [weak self] in self?.sayAbsent(index) }
  }

  /// A device is linked, or has failed, which is in the log with the reason.
  private func stopAwaitingLink(_ index: Int) {
    entries[index].absence?.cancel()
    entries[index].absence = nil
  }

  private func sayAbsent(_ index: Int) {
    entries[index].absence = nil
    guard let session else { return }
    let (device, link) = (entries[index].device, entries[index].link)
    session.call(PeripheralList.self, Empty()) { [weak self, era] result in
      guard let self, self.era == era, entries[index].link == link, case .success(let list) = result else { return }
      entries[index].isSaidAbsent = true
      let reason = Absence(of: device, in: list.peripherals)
      say("\(device.title) is not connected yet: \(reason); the gateway waits for it")
    }
  }

  // MARK: Events

  func value(_ value: GATTValue.Params) {
    guard let index = index(of: value.peripheral), let place = entries[index].handles[value.handle] else { return }
    let device = entries[index].device
    received(
      Value(
        device: device, peripheral: value.peripheral, characteristic: device.characteristics[place],
        handle: value.handle, naming: entries[index].namings[place]?.naming ?? AttributeNaming(),
        octets: value.value.octets))
  }

  func connected(_ link: PeripheralConnect.Result) {
    guard let index = index(of: link.peripheral) else { return }
    linked(index, link.peripheral)
  }

  func disconnected(_ end: PeripheralDisconnected.Params) {
    guard let index = index(of: end.peripheral) else { return }
    guard end.reconnecting == true else { return pause(index) }
    leave(index, .lost(end.peripheral))
    awaitLink(index)
  }

  /// A lost link is not restored by itself.
  func connectFailed(_ failure: PeripheralConnectFailed.Params) {
    guard let index = index(of: failure.peripheral) else { return }
    let title = entries[index].device.title
    sayOnce(index, "\(title) is not reconnected to, which is tried again: \(failure.reason.message)")
    pause(index)
  }

  func subscriptionLost(_ lost: GATTSubscriptionLost.Params) {
    guard let index = index(of: lost.peripheral), let place = entries[index].handles.removeValue(forKey: lost.handle)
    else { return }
    after(index) { $0.subscribe(index, place) }
  }

  /// Some of the device's attributes have changed. bled keeps the subscriptions outside the range; the others, and
  /// failed ones, are requested again.
  func servicesChanged(_ change: GATTServicesChanged.Params) {
    guard let index = index(of: change.peripheral), change.start <= change.end else { return }
    entries[index].handles = entries[index].handles.filter { !(change.start...change.end).contains($0.key) }
    for place in entries[index].device.characteristics.indices { subscribe(index, place) }
  }

  private func index(of peripheral: String) -> Int? {
    entries.firstIndex { entry in
      switch entry.state {
      case .linked(let known), .lost(let known): known.hasSameOctets(as: peripheral)
      case .away, .connecting, .paused: false
      }
    }
  }
}
