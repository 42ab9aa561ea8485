import Adapter
import Bluetooth
import Radio

/// The adapter whose activities pause for `AddressPauses`.
protocol AddressPausesOwner: AnyObject {
  /// True if scan, advertising and connecting may pause; nil once all activities have ended.
  var pauseIsHarmless: Bool? { get }
  /// Resumes the activities under this address. `isScanOver` and `over` name those cancelled during the pause, with an
  /// end still to be reported. The radio reports the activities that have begun again (`RadioAction.resumed`).
  func resume(under address: DeviceAddress, isScanOver: Bool, over: Set<AdvertisingSetID>)
}

/// The source of one controller's addresses.
protocol AddressSource: AnyObject {
  /// All activities have ended: gives the controller its next address, and calls `AddressPauses.changed`.
  func changeAddress()
  /// The activities continue under this address next.
  func resumes(under address: DeviceAddress)
  /// The controller is no longer in use.
  func close()
}

/// Pauses the activities of one controller while its address changes: runs `AddressChanges` by the clock.
final class AddressPauses {
  weak var owner: (any AddressPausesOwner)?
  weak var source: (any AddressSource)?
  private let activities: RadioActivities
  private let context: AdapterContext
  private var machine = AddressChanges()
  private var alarm: (any ScheduledWork)?

  init(of activities: RadioActivities, in context: AdapterContext) {
    self.activities = activities
    self.context = context
  }

  /// The present address.
  var current: DeviceAddress { machine.current }

  /// The controller is in use under this address.
  /// - Parameter time: its lifetime; nil for a permanent address.
  func begin(_ address: DeviceAddress, for time: Duration?) {
    run {
      $0.begin(address, for: time, at: $1)
      return []
    }
  }

  /// The controller is closed.
  func close() {
    run { (machine, _) in
      machine.close()
      return []
    }
  }

  /// Asks for a pause, whether or not the address is to change.
  func ask() { run { (machine, _) in machine.ask() } }

  /// The controller has another address, or keeps its own.
  /// - Parameter time: the time until the next change; nil for none.
  func changed(to address: DeviceAddress?, for time: Duration?) { run { $0.changed(to: address, for: time, at: $1) } }

  /// True if this end belongs to the pause, and is hidden from programs.
  func withholds(_ action: RadioAction) -> Bool { machine.withholds(action) }

  /// All activities have ended for the pause.
  func becameQuiet() { run { (machine, _) in machine.quiet() } }

  private func run(_ step: (inout AddressChanges, Instant) -> [AddressChanges.Action]) {
    for action in step(&machine, context.scheduler.now) { perform(action) }
    context.arm(&alarm, at: machine.deadline) { [weak self] _ in self?.run { $0.tick(at: $1) } }
  }

  private func perform(_ action: AddressChanges.Action) {
    switch action {
    case .pauseIsDue: pause()
    case .change: source?.changeAddress()
    case .resume(let address, let scanEnded, let ended):
      let isScanOver = scanEnded && activities.targets.scan == nil
      owner?.resume(
        under: address, isScanOver: isScanOver, over: ended.filter { activities.targets.advertising[$0] == nil })
      source?.resumes(under: address)
      activities.run(.resume(address, activities.targets))
    }
  }

  private func pause() {
    switch owner?.pauseIsHarmless {
    case true?:
      machine.pause(at: context.scheduler.now)
      activities.run(.pause)
    case false?: machine.postpone(at: context.scheduler.now)
    case nil: break
    }
  }
}
