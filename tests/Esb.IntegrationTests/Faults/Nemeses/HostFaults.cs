using Esb.IntegrationTests.Faults.Farm;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>What happens to host processes.</summary>
internal static class HostFaults
{
    /// <summary>As by <c>kill -9</c>; another process takes its place.</summary>
    public static Fault Kill(FarmHost host) =>
        new Fault($"kill -9 {host.Name}", host.KillAsync, () => StartAsync(host), default, default).Lasting(0.5, 5);

    /// <summary>As by an operator who stops it; another process takes its place.</summary>
    public static Fault Stop(FarmHost host) =>
        new Fault($"SIGTERM {host.Name}", () => host.StopAsync(CancellationToken.None), () => StartAsync(host), default, default).Lasting(
            0,
            2
        );

    /// <summary>The process stands still, and goes on later as if nothing had happened.</summary>
    public static Fault Pause(FarmHost host) =>
        new Fault($"SIGSTOP {host.Name}", () => host.SignalAsync("STOP"), () => host.SignalAsync("CONT"), default, default).Lasting(5, 20);

    private static Task StartAsync(FarmHost host)
    {
        host.Start();
        return Task.CompletedTask;
    }
}
