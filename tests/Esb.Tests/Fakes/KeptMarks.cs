using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Tests.Fakes;

/// <summary>Values of endpoints in memory; away when a test says so. Thread-safe.</summary>
internal sealed class KeptMarks : IEndpointMarks
{
    private readonly ConcurrentDictionary<(string, string), string> _values = new();

    private readonly Dictionary<(string, Guid), long> _numbers = [];

    /// <summary>True while the store is unreachable.</summary>
    public bool IsAway { get; set; }

    public int Count => _values.Count;

    public Task<string?> FindAsync(string endpoint, string name, CancellationToken cancellationToken)
    {
        Check();
        return Task.FromResult(_values.GetValueOrDefault((endpoint, name)));
    }

    public Task KeepAsync(string endpoint, string name, string value, TimeSpan? keep, CancellationToken cancellationToken)
    {
        Check();
        cancellationToken.ThrowIfCancellationRequested();
        _values[(endpoint, name)] = value;
        return Task.CompletedTask;
    }

    public Task<long> NumberAsync(string endpoint, Guid message, CancellationToken cancellationToken)
    {
        Check();
        lock (_numbers)
        {
            if (!_numbers.TryGetValue((endpoint, message), out var number))
                _numbers[(endpoint, message)] = number = _numbers.Keys.Count(key => key.Item1 == endpoint) + 1;
            return Task.FromResult(number);
        }
    }

    public Task RemoveAsync(string endpoint, string name, CancellationToken cancellationToken)
    {
        Check();
        _values.TryRemove((endpoint, name), out _);
        return Task.CompletedTask;
    }

    private void Check()
    {
        if (IsAway)
            throw new EsbException("ESB-STORE-AWAY", "The store is unreachable.", FaultKind.Unavailable);
    }
}
