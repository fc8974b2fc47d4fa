using System.Net;
using System.Net.Sockets;

namespace Esb.Tests;

/// <summary>Loopback ports, each given once until all have been: below those of outgoing connections, so that none is taken while its
/// server is down.</summary>
/// <remarks>Test runners side by side have a block each, which a locked file holds: a port that is free when it is given may be bound much
/// later.</remarks>
internal static class FreePorts
{
    private const int First = 12_000;
    private const int BlockLength = 500;
    private const int Blocks = 14;

    private static readonly (FileStream Lock, int Begin) Block = ClaimBlock();
    private static int _next = Environment.ProcessId % BlockLength;

    public static int Next()
    {
        while (true)
        {
            var port = Block.Begin + ((int)((uint)Interlocked.Increment(ref _next) % BlockLength));
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

    private static (FileStream Lock, int Begin) ClaimBlock()
    {
        for (var block = 0; block < Blocks; block++)
        {
            try
            {
                var held = new FileStream(
                    Path.Combine(Path.GetTempPath(), $"esb-test-ports-{block}"),
                    FileMode.OpenOrCreate,
                    FileAccess.ReadWrite,
                    FileShare.None
                );
                return (held, First + (block * BlockLength));
            }
            catch (IOException)
            {
                // another runner's
            }
        }

        throw new InvalidOperationException($"{Blocks} test runners are at work, and there are no ports for another.");
    }
}
