import CoreBluetooth
import Testing

/// The initializers that Apple's importer gives error types.
@Suite struct BridgedErrorTests {
  @Test("CBError and CBATTError are made of an NSError, and give it back")
  func bridging() throws {
    let lost = NSError(domain: CBErrorDomain, code: 6, userInfo: [NSLocalizedDescriptionKey: "lost"])
    let error = CBError(_nsError: lost)
    #expect(error.code == .connectionTimeout && error.errorCode == 6)
    #expect(error.userInfo[NSLocalizedDescriptionKey] as? String == "lost" && error.localizedDescription == "lost")
    #expect(error._nsError === lost)
    #expect(error == CBError(_nsError: lost))

    let refused = CBATTError(_nsError: NSError(domain: CBATTErrorDomain, code: 0x80))
    #expect(refused.code == CBATTError.Code(rawValue: 0x80) && refused._nsError.domain == CBATTErrorDomain)
  }

  @Test("a thrown NSError is caught as CBError, as its code, and as CBATTError only in that domain")
  func catching() {
    for isATT in [true, false] {
      do {
        throw NSError(domain: isATT ? CBATTErrorDomain : CBErrorDomain, code: 6, userInfo: ["key": 1])
      } catch let error as CBATTError {
        #expect(isATT && error.code == .requestNotSupported && error.userInfo["key"] as? Int == 1)
      } catch CBError.connectionTimeout {
        #expect(!isATT)
      } catch {
        Issue.record("\(error)")
      }
    }
    do { throw CBError(.connectionTimeout, userInfo: ["key": 2]) } catch let error as CBError {
      #expect(error.userInfo["key"] as? Int == 2 && (error as NSError).code == 6)
    } catch { Issue.record("\(error)") }
  }
}
