using Esb.IntegrationTests.Faults.Network;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>What happens between the hosts and a server.</summary>
internal static class NetworkFaults
{
    public static Fault Latency(INetworkProxy proxy, string server) =>
        new Fault(
            $"latency to {server}",
            () => proxy.DelayAsync(TimeSpan.FromMilliseconds(300), TimeSpan.FromMilliseconds(700)),
            proxy.HealAsync,
            default,
            default
        ).Lasting(3, 10);

    public static Fault Stall(INetworkProxy proxy, string server) =>
        new Fault($"stall to {server}", proxy.StallAsync, proxy.HealAsync, default, default).Lasting(2, 20);

    public static Fault HalfOpen(INetworkProxy proxy, string server) =>
        new Fault($"half open to {server}", proxy.DeafenAsync, proxy.HealAsync, default, default).Lasting(2, 20);

    public static Fault Reset(INetworkProxy proxy, string server) =>
        new Fault($"reset to {server}", proxy.ResetAsync, proxy.HealAsync, default, default).Lasting(0.1, 3);

    /// <summary>Connections end in the middle of a frame.</summary>
    public static Fault Cut(INetworkProxy proxy, string server) =>
        new Fault(
            $"cut to {server}",
            () => proxy.CutAfterAsync(Random.Shared.Next(1, 4_096), fromServer: false),
            proxy.HealAsync,
            default,
            default
        ).Lasting(0.5, 3);

    /// <summary>Connections end in the middle of an answer.</summary>
    public static Fault CutAnswers(INetworkProxy proxy, string server) =>
        new Fault(
            $"answers of {server} cut",
            () => proxy.CutAfterAsync(Random.Shared.Next(1, 32_768), fromServer: true),
            proxy.HealAsync,
            default,
            default
        ).Lasting(0.5, 3);
}
