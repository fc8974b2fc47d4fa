using Microsoft.Extensions.Hosting;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The lifetime of a server that the bus starts and stops. Unlike the default, it does not handle signals of the process, and
/// leaves them to the host.</summary>
public sealed class BusLifetime : IHostLifetime
{
    /// <inheritdoc/>
    public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
