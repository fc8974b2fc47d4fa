using System.Diagnostics;
using System.Runtime.InteropServices;
using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Topics;
using Esb.Host.Lifecycle;

namespace Esb.Host.Management.Farm;

/// <summary>Describes the hosts of the farm: this one, and the others, which are asked.</summary>
internal sealed class FarmHosts(IFarm farm, Live<BusModel> live, HostState state) : IBusPart
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    private IDisposable? _hearing;

    public BusStage Stage => BusStage.Outbound;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _hearing = farm.Answer<DescribeHost, HostView>((_, _) => Task.FromResult(Describe()));
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        _hearing?.Dispose();
        return Task.CompletedTask;
    }

    /// <summary>All live hosts, by name.</summary>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-FARM-UNAVAILABLE</c>.</exception>
    public async Task<IReadOnlyList<HostView>> DescribeAsync(CancellationToken cancellationToken)
    {
        List<HostView> hosts = [Describe() with { IsThis = true }];
        if (farm.Hosts.Count > 1)
        {
            var answers = await farm.AskOthersAsync<DescribeHost, HostView>(new DescribeHost(), Patience, cancellationToken);
            hosts.AddRange(answers.Answers.Select(answer => answer.Answer with { IsThis = false }));
            hosts.AddRange(
                answers.Silent.Select(host => new HostView
                {
                    Id = host.Id,
                    Name = host.Name,
                    Answers = false,
                })
            );
        }

        return [.. hosts.OrderBy(host => host.Name, StringComparer.Ordinal)];
    }

    private HostView Describe()
    {
        using var process = Process.GetCurrentProcess();
        return new HostView
        {
            Id = farm.Self.Id,
            Name = farm.Self.Name,
            Obstacle = state.Obstacle,
            Version = HostVersion.Text,
            Revision = live.Current.Revision,
            StartedAt = process.StartTime.ToUniversalTime(),
            WorkingSet = Environment.WorkingSet,
            HeapBytes = GC.GetTotalMemory(forceFullCollection: false),
            ProcessorSeconds = Math.Round(process.TotalProcessorTime.TotalSeconds, 2),
            Processors = Environment.ProcessorCount,
            Runtime = RuntimeInformation.FrameworkDescription,
            OperatingSystem = RuntimeInformation.OSDescription,
        };
    }
}

/// <summary>Question to the other hosts of a farm.</summary>
internal sealed record DescribeHost;
