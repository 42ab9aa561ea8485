import Adapter
import Bluetooth
import HCI

extension Set<LEStates.Activity> {
  /// The words for them, in the order of `AdapterActivity`.
  package var words: [AdapterActivity] {
    let words = Set<AdapterActivity>(map(\.word))
    return AdapterActivity.allCases.filter(words.contains)
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
