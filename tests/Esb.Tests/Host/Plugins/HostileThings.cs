using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Plugins;

/// <summary>What a plug-in does that its author did not mean.</summary>
public enum Misdeed
{
    /// <summary>Throws where its adapter is made, at the start.</summary>
    ThrowsWhenMade,

    /// <summary>Throws where an instance is made.</summary>
    ThrowsPerInstance,

    /// <summary>Throws when it has a message.</summary>
    Throws,

    /// <summary>Never ends, and hears of no cancellation.</summary>
    Hangs,

    /// <summary>The same, on the thread that called.</summary>
    Blocks,
}

/// <summary>Endpoint types and a step that throw, hang or block.</summary>
public static class HostileThings
{
    /// <summary>Lets go whoever blocks, at the end of a test.</summary>
    public static ManualResetEventSlim Over { get; } = new();

    public static void Register(IServiceCollection services) =>
        services
            .AddEndpointType<HostileOutboundType, HostileOutboundConfig>("hostile-outbound", "Does not do what it should.")
            .AddEndpointType<HostileInboundType, HostileInboundConfig>("hostile-inbound", "Does not do what it should.")
            .AddStep<HostileStep, HostileStepConfig>("hostile", "Does not do what it should.");

    private static async ValueTask CommitAsync(Misdeed misdeed)
    {
        if (misdeed == Misdeed.Blocks)
            Over.Wait(CancellationToken.None);
        if (misdeed == Misdeed.Hangs)
            await Task.Delay(Timeout.Infinite, CancellationToken.None);
        throw new NotSupportedException("It never worked.");
    }

    /// <summary>The outbound endpoint.</summary>
    public sealed record HostileOutboundConfig : OutboundEndpointConfig
    {
        [Setting("What it does.")]
        public required Misdeed Does { get; init; }
    }

    /// <summary>The inbound endpoint.</summary>
    public sealed record HostileInboundConfig : InboundEndpointConfig
    {
        [Setting("What it does.")]
        public required Misdeed Does { get; init; }
    }

    /// <summary>The step.</summary>
    public sealed record HostileStepConfig : SettingsRecord
    {
        [Setting("What it does.", Main = true)]
        public required Misdeed Does { get; init; }
    }

    /// <summary>The type of the outbound endpoint.</summary>
    public sealed class HostileOutboundType : OutboundEndpointType<HostileOutboundConfig>
    {
        protected override CreateOutbound? Compile(HostileOutboundConfig settings, ConfigErrors errors) =>
            _ => settings.Does == Misdeed.ThrowsWhenMade ? throw new NotSupportedException("It never worked.") : new Adapter(settings.Does);
    }

    /// <summary>The type of the inbound endpoint.</summary>
    public sealed class HostileInboundType : InboundEndpointType<HostileInboundConfig>
    {
        protected override CreateInbound? Compile(HostileInboundConfig settings, ConfigErrors errors) =>
            (_, _) =>
                settings.Does == Misdeed.ThrowsWhenMade ? throw new NotSupportedException("It never worked.") : new Inbound(settings.Does);
    }

    /// <summary>The step's factory.</summary>
    public sealed class HostileStep : StepFactory<HostileStepConfig>
    {
        /// <inheritdoc/>
        public override string Kind => "hostile";

        /// <inheritdoc/>
        protected override StepModel Compile(HostileStepConfig settings, StepConfig step, IStepCompiler compiler) =>
            new(step, "hostile")
            {
                Bind = _ =>
                    settings.Does == Misdeed.ThrowsWhenMade
                        ? throw new NotSupportedException("It never worked.")
                        : (_, _) => CommitAsync(settings.Does),
            };
    }

    private sealed class Adapter(Misdeed misdeed) : IOutboundAdapter, IOutboundEndpoint
    {
        public IOutboundEndpoint CreateInstance() =>
            misdeed == Misdeed.ThrowsPerInstance ? throw new NotSupportedException("It never worked.") : this;

        public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
        {
            await CommitAsync(misdeed);
            return null;
        }

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }

    private sealed class Inbound(Misdeed misdeed) : IInboundEndpoint
    {
        public Task StartAsync(CancellationToken cancellationToken) => CommitAsync(misdeed).AsTask();

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
