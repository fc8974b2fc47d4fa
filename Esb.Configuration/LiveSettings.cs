using Esb.Configuration.Reading;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Microsoft.Extensions.Logging;

namespace Esb.Configuration;

/// <summary>Named settings in a separate file that may change at run time. Thread-safe.</summary>
/// <remarks>The file is checked once a second, on access. Errors in a changed file are logged, and the previous settings stay in
/// force.</remarks>
/// <typeparam name="T">The settings of one name; they refer to no other section.</typeparam>
public sealed class LiveSettings<T>
    where T : SettingsRecord
{
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);

    private readonly RenewedFile<IReadOnlyDictionary<string, T>> _file;

    /// <summary>Reads the file for the first time.</summary>
    /// <param name="path">The file.</param>
    /// <param name="variables">The environment variables for its references.</param>
    /// <param name="check">Reports errors in settings that could be read.</param>
    /// <param name="time">The clock for the checks of the file.</param>
    /// <param name="logger">Logs each change.</param>
    /// <exception cref="FileFaultException">The file changed since it was checked with <see cref="Read"/>, and cannot be used.</exception>
    public LiveSettings(
        string path,
        IReadOnlyDictionary<string, string> variables,
        Action<T, ConfigErrors> check,
        TimeProvider time,
        ILogger<LiveSettings<T>> logger
    ) =>
        _file = new RenewedFile<IReadOnlyDictionary<string, T>>(
            path,
            [path],
            () => Load(path, variables, check),
            LookInterval,
            time,
            logger
        );

    /// <summary>The content of the file: the same object until the file changes.</summary>
    public IReadOnlyDictionary<string, T> Current => _file.Current;

    /// <summary>Reads such a file. The result is null if there is any error; all errors are then reported.</summary>
    /// <param name="path">The file: a JSON object of names.</param>
    /// <param name="variables">The environment variables for its references.</param>
    /// <param name="check">Reports errors in settings that could be read.</param>
    /// <param name="errors">Receives every error.</param>
    public static IReadOnlyDictionary<string, T>? Read(
        string path,
        IReadOnlyDictionary<string, string> variables,
        Action<T, ConfigErrors> check,
        ConfigErrors errors
    )
    {
        if (ConfigFile.Read(path, errors) is not { } written)
            return null;
        var found = new ConfigErrors();
        var root = new ConfigReferences(variables, found).Resolve(written);
        var reader = new SettingsReader(new SettingsCatalog([], []), found);
        var read = (IReadOnlyDictionary<string, T>?)
            new MapType(typeof(T), new SettingAttribute("") { NamesThings = true }).Read(root, reader);
        foreach (var settings in read?.Values ?? [])
            check(settings, found);
        errors.AddAll(found);
        return found.Any ? null : read;
    }

    private static IReadOnlyDictionary<string, T> Load(
        string path,
        IReadOnlyDictionary<string, string> variables,
        Action<T, ConfigErrors> check
    )
    {
        var errors = new ConfigErrors();
        return Read(path, variables, check, errors) ?? throw new FileFaultException($"has errors: {string.Join("; ", errors.All)}");
    }
}
