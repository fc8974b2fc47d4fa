using System.Net;
using System.Net.Sockets;

namespace Esb.Tests;

/// <summary>Loopback ports, each given once: below those of outgoing connections, so that none is taken while its server is down.</summary>
internal static class FreePorts
{
    private const int First = 12_000;
    private const int Count = 7_000;

    private static int _next = Environment.ProcessId * 431 % Count; // test runners side by side begin far apart

    public static int Next()
    {
        while (true)
        {
            var port = First + (Interlocked.Increment(ref _next) % Count);
            try
            {
                using var listener = new TcpListener(IPAddress.Loopback, port);
                listener.Start();
                return port;
            }
            catch (SocketException)
            {
                // somebody else's
            }
        }
    }
}
