using System.Net;
using System.Net.Sockets;

namespace Esb.IntegrationTests.Faults.Network;

/// <summary>The proxy of our own does what it says; Toxiproxy has tests of its own.</summary>
public sealed class NetworkProxyTests
{
    private TcpListener _server = null!;
    private LocalProxy _proxy = null!;
    private Task _echoing = null!;

    [SetUp]
    public void Start()
    {
        _server = new TcpListener(IPAddress.Loopback, 0);
        _server.Start();
        _proxy = new LocalProxy(((IPEndPoint)_server.LocalEndpoint).Port);
        _echoing = EchoAsync();
    }

    [TearDown]
    public async Task Stop()
    {
        await _proxy.DisposeAsync();
        _server.Stop();
        await _echoing;
        _server.Dispose();
    }

    [Test, CancelAfter(60_000)]
    public async Task What_is_sent_comes_through(CancellationToken cancellationToken)
    {
        using var client = await ConnectAsync(cancellationToken);

        Assert.That(await EchoAsync(client, 5, cancellationToken), Is.EqualTo(5));
    }

    [Test, CancelAfter(60_000)]
    public async Task Stalled_connection_stays_open_and_says_nothing_until_it_is_healed(CancellationToken cancellationToken)
    {
        using var client = await ConnectAsync(cancellationToken);
        await EchoAsync(client, 1, cancellationToken);
        await _proxy.StallAsync();
        var answer = EchoAsync(client, 5, cancellationToken);
        await Task.Delay(300, cancellationToken);
        var answered = answer.IsCompleted;
        await _proxy.HealAsync();

        Assert.That((answered, await answer), Is.EqualTo((false, 5)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Reset_connection_fails(CancellationToken cancellationToken)
    {
        using var client = await ConnectAsync(cancellationToken);
        await EchoAsync(client, 1, cancellationToken);
        await _proxy.ResetAsync();

        Assert.That(async () => await EchoAsync(client, 5, cancellationToken), Throws.InstanceOf<SocketException>());
    }

    [Test, CancelAfter(60_000)]
    public async Task Connection_is_cut_after_the_bytes_that_it_may_pass_on(CancellationToken cancellationToken)
    {
        await _proxy.CutAfterAsync(3, fromServer: true);
        using var client = await ConnectAsync(cancellationToken);

        Assert.That(await EchoAsync(client, 5, cancellationToken), Is.EqualTo(3));
    }

    private async Task<Socket> ConnectAsync(CancellationToken cancellationToken)
    {
        var client = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await client.ConnectAsync(IPAddress.Loopback, _proxy.Port, cancellationToken);
        return client;
    }

    // How many bytes come back before the connection ends.
    private static async Task<int> EchoAsync(Socket client, int length, CancellationToken cancellationToken)
    {
        await client.SendAsync(new byte[length], cancellationToken);
        var total = 0;
        while (total < length)
        {
            try
            {
                var count = await client.ReceiveAsync(new byte[length], cancellationToken);
                if (count == 0)
                    return total;
                total += count;
            }
            catch (SocketException) when (total > 0)
            {
                return total;
            }
        }

        return total;
    }

    private async Task EchoAsync()
    {
        try
        {
            while (true)
            {
                using var connection = await _server.AcceptSocketAsync();
                var buffer = new byte[100];
                while (await connection.ReceiveAsync(buffer) is > 0 and var count)
                    await connection.SendAsync(buffer.AsMemory(0, count));
            }
        }
        catch (Exception ex) when (ex is SocketException or ObjectDisposedException)
        {
            // stopped
        }
    }
}
