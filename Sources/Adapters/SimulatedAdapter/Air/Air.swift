import Adapter
import Bluetooth
import Scenarios

/// The shared medium: the devices and phones of the scenarios, and the adapters that share it.
///
/// Each advertiser and device draws from a stream of its own.
public final class Air {
  let context: SimulationContext
  private var advertisers: [Advertiser] = []
  private var listeners: [Reception] = []
  /// The connections, until both sides know of their end. They go with the air, even if a side is held.
  private var pairs: [ObjectIdentifier: LinkPair] = [:]
  private(set) var devices: [SimulatedPeripheral] = []
  private var phones: [SimulatedCentral] = []
  /// The keys of the devices and phones.
  private(set) var keys = SimulatedKeys(seed: 0)

  /// Makes an empty air.
  public init(scheduler: any Scheduler, seed: UInt64) {
    context = SimulationContext(scheduler: scheduler, seed: seed)
  }

  var scheduler: any Scheduler { context.scheduler }

  /// The age of the air, which determines the values.
  var age: Duration { context.age }

  /// The random numbers for one purpose.
  func generator(_ stream: UInt64) -> SeededGenerator { context.generator(stream) }

  // MARK: - Participants

  package func populate(_ scenario: Scenario) {
    if devices.isEmpty, phones.isEmpty { keys = SimulatedKeys(seed: scenario.seed ?? 0) }
    var taken = Set(devices.map(\.address))
    for description in scenario.devices where taken.isDisjoint(with: description.addresses) {
      taken.formUnion(description.addresses)
      let device = SimulatedPeripheral(description, air: self)
      devices.append(device)
      if let bootLoader = device.bootLoader { devices.append(bootLoader) }
      device.setPresent(true)
    }
    var known = Set(phones.map(\.address))
    for description in scenario.phones where known.insert(description.address).inserted {
      newPhone(description).watch()
    }
  }

  /// The phone of an address; a new one if there is none.
  func phone(_ description: PhoneDescription) -> SimulatedCentral {
    phones.first { $0.address == description.address } ?? newPhone(description)
  }

  private func newPhone(_ description: PhoneDescription) -> SimulatedCentral {
    let phone = SimulatedCentral(description, air: self)
    phones.append(phone)
    return phone
  }

  /// Takes devices of this name from the air, or puts them back.
  func setPresent(_ isPresent: Bool, device name: String) {
    for device in devices where device.name.hasSameOctets(as: name) { device.setPresent(isPresent) }
  }

  /// The device or phone of this name loses its keys.
  func loseKeys(device name: String) {
    for device in devices where device.name.hasSameOctets(as: name) { device.pairing.loseKeys() }
    for phone in phones where phone.name.hasSameOctets(as: name) { phone.pairing.loseKeys() }
  }

  // MARK: - Advertising

  /// Starts an advertisement.
  func add(_ advertiser: Advertiser) {
    guard advertiser.place == nil else { return }
    advertiser.place = advertisers.count
    advertisers.append(advertiser)
    advertiser.setAudience(hasAudience(advertiser))
  }

  /// Ends an advertisement.
  func remove(_ advertiser: Advertiser) {
    if let place = advertiser.place, let last = advertisers.popLast() {
      // The last advertiser takes its place: thousands may be on the air, and rotation removes some many times a
      // second.
      if last !== advertiser {
        advertisers[place] = last
        last.place = place
      }
      advertiser.place = nil
    }
    advertiser.setAudience(false)
  }

  /// True if an advertisement is on the air.
  func contains(_ advertiser: Advertiser) -> Bool { advertiser.place != nil }

  /// Adds a possible listener.
  func add(_ listener: any Listener) {
    guard !listeners.contains(where: { $0.listener === listener }) else { return }
    listeners.append(Reception(listener: listener))
    audienceChanged()
  }

  /// Removes a listener.
  func remove(_ listener: any Listener) {
    listeners.removeAll { $0.listener === listener || $0.listener == nil }
    audienceChanged()
  }

  /// To be called when a listener starts or stops listening.
  func audienceChanged(to kind: Advertiser.Kind? = nil) {
    for advertiser in advertisers where kind == nil || advertiser.kind == kind {
      advertiser.setAudience(hasAudience(advertiser))
    }
  }

  private func hasAudience(_ advertiser: Advertiser) -> Bool {
    listeners.contains { $0.listener?.listens(to: advertiser) == true }
  }

  /// Sends one advertisement to all listeners.
  func transmit(_ advertiser: Advertiser) {
    for reception in listeners {
      guard let listener = reception.listener, listener.listens(to: advertiser) else { continue }
      guard let rssi = advertiser.reception() else { continue }
      listener.heard(advertiser, rssi: rssi)
    }
  }

  // MARK: - Connecting

  /// The outcome of an attempt to connect.
  enum Outcome {
    case connected(SimulatedLink)
    /// The advertiser did not respond.
    case failed(BluetoothError)
    /// The device is no longer present, or is connected to another party.
    case gone
  }

  /// Tries to connect to an advertiser, after its delay has passed.
  /// - Parameter address: the address of its received advertisement.
  func connect(
    _ end: SimulatedLink.End, to advertiser: Advertiser, at address: DeviceAddress, attempts: Int,
    _ parameters: ConnectionParameters, packetsPerEvent: Int
  ) -> Outcome {
    guard contains(advertiser), advertiser.address == address, advertiser.parameters.isConnectable,
      advertiser.concerns(end.address), let owner = advertiser.owner
    else { return .gone }
    guard owner.answersConnect() else { return .failed(HCIReason.connectionFailedToBeEstablished.error) }
    var other = owner.linkEnd
    if let address = advertiser.parameters.ownAddress { other.address = address }
    let pair = LinkPair(
      end, other, attempts: attempts, parameters, phy: advertiser.phy, packetsPerEvent: packetsPerEvent,
      scheduler: scheduler)
    pairs[ObjectIdentifier(pair)] = pair
    pair.onEnd = { [weak self] in self?.pairs[$0] = nil }
    owner.accept(pair.peripheral)
    return .connected(pair.central)
  }
}

/// A listener on the air, which does not hold it: an adapter holds its air.
private struct Reception {
  weak var listener: (any Listener)?
}

/// A receiver of advertisements.
protocol Listener: AnyObject {
  /// True if it listens to this advertiser.
  func listens(to advertiser: Advertiser) -> Bool
  /// An advertisement was received with this strength.
  func heard(_ advertiser: Advertiser, rssi: Int)
}

extension Air: CommandedAir {
  package var commandedDevices: [any CommandedDevice] { devices }
  package var participants: Int { devices.count + phones.count }
  package var writes: WriteLog { context.writes }

  package func visit(
    _ description: PhoneDescription, isWanted: @escaping () -> Bool, _ done: @escaping (VisitReport) -> Void
  ) -> Bool { phone(description).visit(description, isWanted: isWanted, done) }
}
