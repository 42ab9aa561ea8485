import BledRPC
import FoundationEssentials
import Testing

@Suite("LineFramer") struct LineFramerTests {
  /// The output in order: lines as text, errors as "too long".
  private func drain(_ framer: inout LineFramer) -> [String] {
    var output: [String] = []
    while true {
      do {
        guard let line = try framer.next() else { return output }
        output.append(String(decoding: line, as: UTF8.self))
      } catch {
        output.append("too long")
      }
    }
  }

  private func feed(_ chunks: String..., limit: Int = 8) -> [String] {
    var framer = LineFramer(limit: limit)
    var output: [String] = []
    for chunk in chunks {
      framer.append(chunk.utf8)
      output += drain(&framer)
      #expect(framer.buffered <= limit)
    }
    return output
  }

  @Test("lines in one piece, in pieces, and several at once")
  func lines() {
    #expect(feed("one\n") == ["one"])
    #expect(feed("on", "e", "\n") == ["one"])
    #expect(feed("one\ntwo\nthr", "ee\n") == ["one", "two", "three"])
    #expect(feed("half") == [])
  }

  @Test("blank lines are left out, and the carriage return of a telnet stays white space")
  func blank() {
    #expect(feed("\n\r\n  \none\r\n") == ["one\r"])
  }

  @Test("a line of exactly the limit passes, one octet more does not")
  func limit() {
    #expect(feed("12345678\n") == ["12345678"])
    #expect(feed("123456789\nnext\n") == ["too long", "next"])
  }

  @Test("a line that grows too long in pieces costs one error, as soon as it is too long, and nothing is kept of it")
  func endless() {
    #expect(feed("12345678", "9") == ["too long"])
    #expect(feed("123456789", "123456789", "123456789", "12\n", "next\n") == ["too long", "next"])
    #expect(feed("123456789", "1\nnext\n123456789\nlast\n") == ["too long", "next", "too long", "last"])
  }

  @Test("every way to cut a stream in two gives the same lines")
  func cuts() {
    let stream = Array("a\n\nlonger\n123456789\nb\r\n12345678\nend\n".utf8)
    for cut in 0...stream.count {
      var framer = LineFramer(limit: 8)
      framer.append(stream[..<cut])
      var output = drain(&framer)
      framer.append(stream[cut...])
      output += drain(&framer)
      #expect(output == ["a", "longer", "too long", "b\r", "12345678", "end"], "cut at \(cut)")
    }
  }

  @Test("the error can be sent as it is")
  func error() throws {
    let line = try RPCEncoding.failure(id: nil, tooLong(4))
    let text = String(decoding: line, as: UTF8.self)
    #expect(text.contains("\"id\":null"))
    #expect(text.contains("exceeds the limit of 4 bytes"))
  }

  private func tooLong(_ limit: Int) throws -> RPCError {
    var framer = LineFramer(limit: limit)
    framer.append("123456".utf8)
    do throws(LineFramer.TooLong) {
      _ = try framer.next()
    } catch {
      return error.error
    }
    throw RPCError(code: 0, message: "no error came")
  }
}
