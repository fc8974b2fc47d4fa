namespace Esb.Core.Processes;

/// <summary>Work that waits for the end of a process, and the state that the process reads and writes. One for each message; not
/// thread-safe.</summary>
public sealed class ProcessEnd
{
    private readonly List<IProcessEnding> _endings = [];
    private readonly Dictionary<string, object?> _states = [];
    private readonly HashSet<string> _changed = [];

    /// <summary>The values that steps changed, by name; null removes one.</summary>
    public IEnumerable<KeyValuePair<string, object?>> Changed => _states.Where(state => _changed.Contains(state.Key));

    /// <summary>Work that waits, in the order added.</summary>
    public IReadOnlyList<IProcessEnding> Endings => _endings;

    /// <summary>Adds work that waits for the end.</summary>
    public void Add(IProcessEnding ending) => _endings.Add(ending);

    /// <summary>Sets a value as it was stored.</summary>
    public void Load(string name, object? value) => _states[name] = value;

    /// <summary>Sets a value that is stored when the process has succeeded.</summary>
    public void Change(string name, object? value)
    {
        _states[name] = value;
        _changed.Add(name);
    }

    /// <summary>A value; null if there is none.</summary>
    /// <exception cref="InvalidOperationException">The process does not declare that it reads the value.</exception>
    public object? Read(string name) => _states.TryGetValue(name, out var value)
        ? value
        : throw new InvalidOperationException($"The process reads the state '{name}', which none of its steps declares.");
}

/// <summary>Work that waits for the end of a process.</summary>
public interface IProcessEnding
{
    /// <summary>The process has succeeded. A failure fails the message, which may then be processed again.</summary>
    ValueTask SucceedAsync(CancellationToken cancellationToken);

    /// <summary>The process, or the end of it, has failed. Throws nothing.</summary>
    ValueTask FailAsync();
}
