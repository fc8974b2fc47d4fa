using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http;

/// <summary>The outside of each http-outbound endpoint, shared by its instances and by relays. Thread-safe.</summary>
internal sealed class HttpTargets(TimeProvider time, ILoggerFactory loggers) : IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, HttpTarget> _targets = [];

    /// <summary>The outside, made when it is first asked for; where that fails, because a file is just being replaced, the next one tries again.</summary>
    /// <exception cref="Esb.Core.Certificates.CertificateException">A certificate cannot be read, or has expired.</exception>
    /// <exception cref="Esb.Core.Files.FileFaultException">A file with a secret cannot be read.</exception>
    public HttpTarget Of(HttpOutboundConfig config)
    {
        lock (_gate)
        {
            if (!_targets.TryGetValue(config.Name, out var target)) _targets[config.Name] = target = new HttpTarget(config, time, loggers);
            return target;
        }
    }

    /// <summary>So many relays to an outside may be under way at once from now on. Where there are any, it was made at the start.</summary>
    public void Resize(string endpoint, int poolSize)
    {
        lock (_gate)
        {
            if (_targets.TryGetValue(endpoint, out var target)) target.Relays.Resize(poolSize);
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var target in _targets.Values) await target.DisposeAsync();
    }
}
