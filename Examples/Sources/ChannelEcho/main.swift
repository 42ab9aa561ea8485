import Foundation

// ChannelEcho: sends back what comes over L2CAP channels, until it is stopped.
// ChannelEcho TEXT: sends TEXT to such a program over a channel, and prints what comes back.
let server = EchoServer()
var client: EchoClient?
if let text = CommandLine.arguments.dropFirst().first {
  client = EchoClient(text: text) { exit(0) }
  client?.start()
} else {
  server.start()
}
RunLoop.main.run()
