using Microsoft.Extensions.Hosting;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The lifetime of a server that the bus starts and stops: it does not listen to signals of the process, as it would by itself, and takes none from those who do.</summary>
public sealed class BusLifetime : IHostLifetime
{
    /// <inheritdoc/>
    public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
