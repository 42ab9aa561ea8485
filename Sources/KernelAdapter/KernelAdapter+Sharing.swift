import Adapter
import Bluetooth
import HCI
import Logging
import Radio

/// Activities that the controller cannot have, at once or at all.
extension KernelAdapter {
  /// The controller cannot do at once all that is wanted.
  func sharing(_ activities: Set<LEStates.Activity>, _ heldBack: Set<LEStates.Activity>) {
    information.takingTurns = Self.words(activities)
    information.heldBack = Self.words(heldBack)
    if !activities.isEmpty {
      let words = information.takingTurns.map(\.rawValue).joined(separator: ", ")
      logger.info("the controller cannot do all of this at once, and does it in turns: \(words)")
    }
    if !heldBack.isEmpty {
      let words = information.heldBack.map(\.rawValue).joined(separator: ", ")
      logger.info("the controller cannot do this beside its links: \(words)")
    }
    emit(.stateChanged)
  }

  private static func words(_ activities: Set<LEStates.Activity>) -> [AdapterActivity] {
    let words = Set(activities.map(\.word))
    return AdapterActivity.allCases.filter(words.contains)
  }

  /// Something extended does not work. What a controller was told in the extended way it must forget, by a power cycle,
  /// before it takes legacy commands.
  func usesLegacy(insteadOf fault: ControllerFaults) {
    faults.formUnion(fault)
    let what = fault.contains(.extendedScan) ? "extended scanning" : "extended connecting"
    logger.warning("\(what) does not work on this controller: it is done with legacy commands from now on")
    let problem = AdapterProblem(
      kind: .hardware, message: "\(information.id) does not work with \(what).",
      remedy: "The controller is switched to legacy commands, which takes a few seconds.")
    closeRadio(GAPError.adapterFailed.error(problem.message))
    run(lifecycle: .radioFailed(problem))
  }
}

extension LEStates.Activity {
  fileprivate var word: AdapterActivity {
    switch self {
    case .initiating: .connecting
    case .advertisingConnectably, .advertisingScannably, .advertisingOnly: .advertising
    case .scanningPassively, .scanningActively: .scanning
    }
  }
}
