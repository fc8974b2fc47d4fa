using System.Net;
using System.Net.Sockets;

namespace Esb.IntegrationTests.Faults.Farm;

/// <summary>Ports that hosts keep over restarts: below those that the system gives to outgoing connections, so that none is taken while its host is down.</summary>
internal static class FarmPorts
{
    private const int First = 12_000;
    private const int Count = 7_000;

    private static int _next = Environment.ProcessId * 16 % Count;

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
