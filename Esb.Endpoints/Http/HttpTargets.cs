using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http;

/// <summary>The outside of each http-outbound endpoint, shared by its instances and by relays. Thread-safe.</summary>
internal sealed class HttpTargets(TimeProvider time, ILoggerFactory loggers) : IAsyncDisposable
{
    private readonly ConcurrentDictionary<string, Lazy<HttpTarget>> _targets = new();

    public HttpTarget Of(HttpOutboundConfig config) =>
        _targets.GetOrAdd(config.Name, _ => new Lazy<HttpTarget>(() => new HttpTarget(config, time, loggers))).Value;

    public async ValueTask DisposeAsync()
    {
        foreach (var target in _targets.Values) await target.Value.DisposeAsync();
    }
}
