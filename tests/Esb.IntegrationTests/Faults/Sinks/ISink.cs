using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Checking;

namespace Esb.IntegrationTests.Faults.Sinks;

/// <summary>The outside of one outbound endpoint, with a ledger of its own.</summary>
internal interface ISink : IAsyncDisposable
{
    /// <summary>The endpoint that delivers here.</summary>
    string Endpoint { get; }

    SinkPromises Promises { get; }

    /// <summary>The endpoint's part of the configuration.</summary>
    JsonObject Configuration { get; }

    /// <summary>What arrived, in the order in which it did.</summary>
    Task<IReadOnlyList<SinkEntry>> ReadAsync(CancellationToken cancellationToken);

    /// <summary>How much arrived.</summary>
    async Task<long> CountAsync(CancellationToken cancellationToken) => (await ReadAsync(cancellationToken)).Count;
}
