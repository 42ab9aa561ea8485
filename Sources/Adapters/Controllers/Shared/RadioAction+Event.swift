import Adapter
import Radio

extension RadioAction {
  /// The adapter event with the same meaning; nil if more has to be done.
  var event: AdapterEvent? {
    switch self {
    case .scanning(let isOn): .scanning(isOn)
    case .watching(let isOn): .watching(isOn)
    case .presence(let device, let isThere): .presence(device, isThere)
    case .advertising(let set, let status): .advertising(set, status)
    case .periodic(let train, let event): .periodic(train, event)
    case .responses(let set, let responses): .responses(set, responses)
    case .attemptFailed(let device, let error): .connectAttemptFailed(device, error)
    case .connectWaiting(let device, let reason): .connectWaiting(device, reason)
    default: nil
    }
  }
}
