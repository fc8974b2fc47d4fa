using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core.Configuration;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Sending;

/// <summary>The external system of each http-outbound endpoint, shared by its instances and by relays. Thread-safe.</summary>
internal sealed class HttpTargets(TimeProvider time, ILoggerFactory loggers) : IRevisionPart, IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, (string Fingerprint, HttpTarget Target)> _targets = [];
    private readonly List<(int Exchange, HttpTarget Target)> _left = [];
    private int _exchanges;

    /// <summary>Returns the external system of an endpoint, created on first use. If that fails, for example while a file is being
    /// replaced, the next call retries.</summary>
    /// <exception cref="Esb.Core.Certificates.CertificateException">A certificate cannot be read, or has expired.</exception>
    /// <exception cref="Esb.Core.Files.FileFaultException">A file with a secret cannot be read.</exception>
    public HttpTarget Of(HttpTargetingConfig config)
    {
        lock (_gate)
        {
            var fingerprint = Fingerprint.Of(config);
            if (_targets.TryGetValue(config.Name, out var known))
            {
                if (known.Fingerprint == fingerprint)
                    return known.Target;
                _left.Add((_exchanges, known.Target)); // from an earlier revision: calls may be in progress
            }

            var target = new HttpTarget(config, time, loggers);
            _targets[config.Name] = (fingerprint, target);
            return target;
        }
    }

    /// <summary>Sets the number of concurrent relays to an external system. If relays exist, its target was created at the start.</summary>
    public void Resize(string endpoint, int poolSize)
    {
        lock (_gate)
        {
            if (_targets.TryGetValue(endpoint, out var known))
                known.Target.Relays.Resize(poolSize);
        }
    }

    /// <summary>Releases the targets changed by another revision, after their last call has ended.</summary>
    public Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        int exchange;
        lock (_gate)
            exchange = ++_exchanges;
        old.Then(() => LetGoAsync(exchange));
        return Task.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var target in _targets.Values.Select(known => known.Target).Concat(_left.Select(one => one.Target)))
            await target.DisposeAsync();
    }

    private async ValueTask LetGoAsync(int exchange)
    {
        List<HttpTarget> left;
        lock (_gate)
        {
            left = [.. _left.Where(one => one.Exchange <= exchange).Select(one => one.Target)]; // later ones may have calls in progress
            _left.RemoveAll(one => one.Exchange <= exchange);
        }

        foreach (var target in left)
            await target.DisposeAsync();
    }
}
