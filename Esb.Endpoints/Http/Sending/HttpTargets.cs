using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core.Configuration;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Sending;

/// <summary>The outside of each http-outbound endpoint, shared by its instances and by relays. Thread-safe.</summary>
internal sealed class HttpTargets(TimeProvider time, ILoggerFactory loggers) : IRevisionPart, IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, (string Fingerprint, HttpTarget Target)> _targets = [];
    private readonly List<(int Exchange, HttpTarget Target)> _left = [];
    private int _exchanges;

    /// <summary>The outside, made when it is first asked for; where that fails, because a file is just being replaced, the next one tries
    /// again.</summary>
    /// <exception cref="Esb.Core.Certificates.CertificateException">A certificate cannot be read, or has expired.</exception>
    /// <exception cref="Esb.Core.Files.FileFaultException">A file with a secret cannot be read.</exception>
    public HttpTarget Of(HttpOutboundConfig config)
    {
        lock (_gate)
        {
            var fingerprint = Fingerprint.Of(config);
            if (_targets.TryGetValue(config.Name, out var known))
            {
                if (known.Fingerprint == fingerprint) return known.Target;
                _left.Add((_exchanges, known.Target)); // of an earlier revision: calls may be under way there
            }

            var target = new HttpTarget(config, time, loggers);
            _targets[config.Name] = (fingerprint, target);
            return target;
        }
    }

    /// <summary>So many relays to an outside may be under way at once from now on. Where there are any, it was made at the start.</summary>
    public void Resize(string endpoint, int poolSize)
    {
        lock (_gate)
        {
            if (_targets.TryGetValue(endpoint, out var known)) known.Target.Relays.Resize(poolSize);
        }
    }

    /// <summary>What another revision describes otherwise is let go of when no call is under way there any more.</summary>
    public Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        int exchange;
        lock (_gate) exchange = ++_exchanges;
        old.Then(() => LetGoAsync(exchange));
        return Task.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var target in _targets.Values.Select(known => known.Target).Concat(_left.Select(one => one.Target))) await target.DisposeAsync();
    }

    private async ValueTask LetGoAsync(int exchange)
    {
        List<HttpTarget> left;
        lock (_gate)
        {
            left = [.. _left.Where(one => one.Exchange <= exchange).Select(one => one.Target)]; // what later ones left may have calls under way
            _left.RemoveAll(one => one.Exchange <= exchange);
        }

        foreach (var target in left) await target.DisposeAsync();
    }
}
