namespace Esb.Endpoints.Http.Credentials;

/// <summary>The credential of an endpoint, set on each of its requests; it replaces any header of that name. Thread-safe.</summary>
/// <param name="header">The header.</param>
internal abstract class TargetCredential(string header) : IDisposable
{
    /// <summary>The header.</summary>
    public string Header { get; } = header;

    /// <summary>Returns the value for the next request.</summary>
    /// <exception cref="Core.Errors.EndpointException">No value can be obtained.</exception>
    public abstract ValueTask<string> CurrentAsync(CancellationToken cancellationToken);

    /// <summary>Reports that the external system refused a value with 401; true if the next one will be different.</summary>
    public virtual bool Refuse(string value) => false;

    /// <inheritdoc/>
    public virtual void Dispose() { }
}

/// <summary>A credential of the configuration, or of a file.</summary>
/// <param name="header">The header.</param>
/// <param name="value">Returns its current value.</param>
internal sealed class GivenCredential(string header, Func<string> value) : TargetCredential(header)
{
    public override ValueTask<string> CurrentAsync(CancellationToken cancellationToken) => ValueTask.FromResult(value());
}
