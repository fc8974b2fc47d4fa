using System.Net;
using System.Net.Sockets;

namespace SideBySide.Servers;

/// <summary>Loopback ports that nobody listens at, each given out once.</summary>
internal static class FreePorts
{
    // Below 32768, where the ports of outgoing connections begin; the process id keeps two runs apart.
    private static int _next = 20_000 + (Environment.ProcessId % 1_000 * 11);

    public static int Next()
    {
        while (true)
        {
            var port = Interlocked.Increment(ref _next);
            if (IsFree(port))
                return port;
        }
    }

    private static bool IsFree(int port)
    {
        using var listener = new TcpListener(IPAddress.Loopback, port);
        try
        {
            listener.Start();
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
