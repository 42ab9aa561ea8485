import BledClient
import BledRPC
import Bluetooth

extension CentralEngine {
  /// Opens a channel and reports it to the delegate, unless the connection ends before. Any thread.
  func openChannel(_ psm: CBL2CAPPSM, to peripheral: CBPeripheral) {
    links.open(psm, on: peripheral) { [weak self] result in
      self?.deliver(to: peripheral) { peripheral in
        switch result {
        case .success(let opened):
          let channel = CBL2CAPChannel(to: peripheral, psm: opened.result.psm, opened.descriptor)
          peripheral.delegate?.peripheral(peripheral, didOpen: channel, error: nil)
        case .failure(let error):
          peripheral.delegate?.peripheral(peripheral, didOpen: nil, error: error.coreBluetooth)
        }
      }
    }
  }
}
