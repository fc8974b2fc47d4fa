using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Workflows.Processes.Endings;
using Esb.Workflows.Processes.Steps.Deduplication;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Entry;

/// <inheritdoc/>
internal sealed class EntryGates(EntryGateModels models, IServiceProvider services) : IEntryGates
{
    public MessageStep Before(InboundEndpointConfig endpoint, MessageStep run)
    {
        if (endpoint.Dedupe is not { } dedupe || !models.Keys.TryGetValue(endpoint.Name, out var key))
            return run;
        var once = new Deduplicator(dedupe, dedupe.Path, key, services);
        var endings = new ProcessEndings([], services.GetRequiredService<IEndpointMarks>(), services.GetRequiredService<ArrivingState>());
        return (context, cancellationToken) => endings.RunAsync(PassOnceAsync, context, cancellationToken);

        async ValueTask PassOnceAsync(MessageContext context, CancellationToken cancellationToken)
        {
            await once.RunAsync(context, cancellationToken);
            if (context.Outcome == ProcessOutcome.Running)
                await run(context, cancellationToken);
        }
    }
}
