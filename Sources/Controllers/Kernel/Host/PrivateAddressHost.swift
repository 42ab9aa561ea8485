import Adapter
import Bluetooth
import HCI
import Logging
import Radio

/// The user of a `PrivateAddressHost`.
protocol PrivateAddressHostOwner: AnyObject {
  /// For how long an address is used; nil if it stays.
  var rotation: Duration? { get }
  /// The controller can be used, under this address if it is a private one, which it knows.
  func addressIsMade(_ address: DeviceAddress?, for profile: ControllerProfile)
  /// The kernel made no address for a controller that has none.
  func addressIsMissing()
  /// Whether scan, advertising and connecting may pause; nil if nothing goes on any more.
  var pauseIsHarmless: Bool? { get }
  /// They go on under this address, except for unwanted ones: their ends were not told. The radio
  /// tells when they have begun again (`RadioAction.resumed`).
  func resume(under address: DeviceAddress, isScanOver: Bool, over: Set<AdvertisingSetID>)
  /// The kernel accepted bonds, whether devices may pair or not.
  func restoreBonds()
}

/// The private addresses under which one controller is seen: runs `PrivateAddresses` by the clock, and has the kernel
/// make them.
final class PrivateAddressHost {
  weak var owner: (any PrivateAddressHostOwner)?
  private let management: ManagementInterface
  private let radio: RadioHost
  private let context: AdapterContext
  private var machine = PrivateAddresses()
  private var alarm: (any ScheduledWork)?

  init(_ management: ManagementInterface, _ radio: RadioHost, in context: AdapterContext) {
    self.management = management
    self.radio = radio
    self.context = context
  }

  /// Whether scan, advertising and connecting pause until there is a new address.
  var isPausing: Bool { machine.isPausing }

  /// A controller was set up: it has no radio before the kernel knows its address.
  func begin(_ profile: ControllerProfile, isPrivate: Bool) {
    run { $0.begin(profile, isPrivate: isPrivate, at: self.context.scheduler.now) }
  }

  /// The radio is closed.
  func close() { run { $0.close(at: self.context.scheduler.now) } }

  /// The controller gets power anew, and another address with that.
  func forget() { machine.forget() }

  /// The kernel, or another program, sent a command to the controller.
  func heard(_ command: CommandPacket) { machine.heard(command) }

  /// The kernel answered a command.
  func receive(answer event: ManagementEvent) {
    guard let (opcode, _) = event.answer else { return }
    run { $0.answered(opcode, at: self.context.scheduler.now) }
  }

  /// Whether this is an end for the pause, which programs need not notice.
  func withholds(_ action: RadioAction) -> Bool { machine.withholds(action) }

  /// All activities have ended for the pause.
  func becameQuiet() { run { $0.quiet(at: self.context.scheduler.now) } }

  private func run(_ step: (inout PrivateAddresses) -> [PrivateAddresses.Action]) {
    for action in step(&machine) { perform(action) }
    alarm?.cancel()
    alarm = machine.deadline.map { deadline in
      context.scheduler.schedule(at: deadline) { [weak self] in
        guard let self else { return }
        run { $0.tick(rotation: self.owner?.rotation, at: self.context.scheduler.now) }
      }
    }
  }

  private func perform(_ action: PrivateAddresses.Action) {
    switch action {
    case .send(.prepareAdvertisement):
      management.send(AddExtendedAdvertisingParameters { $0.instance = PrivateAddressMachine.advertisement })
    case .send(.prepareDiscoverableAdvertisement):
      management.send(
        AddExtendedAdvertisingParameters {
          $0.instance = PrivateAddressMachine.advertisement
          $0.flags = .discoverable
        })
    case .send(.allowBonds): management.send(SetBondable(value: 1))
    case .send(.restoreBonds): owner?.restoreBonds()
    case .send(.removeAdvertisement): management.send(RemoveAdvertising(value: PrivateAddressMachine.advertisement))
    case .send(.startDiscovery): management.send(StartDiscovery())
    case .send(.stopDiscovery): management.send(StopDiscovery())
    case .made(let address?):
      context.logger.debug("the adapter is seen under another address", metadata: ["address": "\(address)"])
    case .made(nil): context.logger.warning("the kernel made no new private address; retrying in a minute")
    case .open(let profile, let address):
      if let address { radio.send(Self.setAddress(address)) }
      owner?.addressIsMade(address, for: profile)
    case .failed: owner?.addressIsMissing()
    case .pauseIsDue: pause()
    case .resume(let address, let scanEnded, let ended):
      let isScanOver = scanEnded && radio.activities.targets.scan == nil
      owner?.resume(
        under: address, isScanOver: isScanOver, over: ended.filter { radio.activities.targets.advertising[$0] == nil })
      radio.activities.run(.command(Self.setAddress(address)))
      radio.activities.run(.resume(address, radio.activities.targets))
    }
  }

  private static func setAddress(_ address: DeviceAddress) -> CommandPacket {
    CommandPacket(LESetRandomAddress { $0.address = address.value })
  }

  private func pause() {
    switch owner?.pauseIsHarmless {
    case true?:
      machine.pause(at: context.scheduler.now)
      radio.activities.run(.pause)
    case false?: machine.postpone(at: context.scheduler.now)
    case nil: break
    }
  }
}
