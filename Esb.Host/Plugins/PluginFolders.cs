using Esb.Core.Configuration;

namespace Esb.Host.Plugins;

/// <summary>The folders that are searched for plug-ins.</summary>
internal static class PluginFolders
{
    /// <summary>The variable that names a plug-in folder, in addition to the folder of the program.</summary>
    public const string Variable = "ESB_PLUGINS";

    /// <summary>The folder <c>plugins</c> beside the program, if it exists, and the folder that the variable names.</summary>
    /// <remarks>Never a folder of the working directory or of a configuration: their content is not always trusted to run.</remarks>
    public static IReadOnlyList<string> Find(IReadOnlyDictionary<string, string> variables, ConfigErrors errors)
    {
        var own = Path.Combine(AppContext.BaseDirectory, "plugins");
        var folders = new List<string>();
        if (Directory.Exists(own))
            folders.Add(own);
        if (variables.GetValueOrDefault(Variable) is not { Length: > 0 } named)
            return folders;
        var full = Path.GetFullPath(named);
        if (Directory.Exists(full))
            folders.Add(full);
        else
            errors.Add("ESB-PLUGIN-FOLDER", full, $"is named by {Variable}, and there is no such folder", origin: null);
        return [.. folders.Distinct()];
    }

    /// <summary>The plug-in assemblies in folders, by name.</summary>
    public static IReadOnlyList<(string Name, string File)> FindAssemblies(IEnumerable<string> folders, ConfigErrors errors)
    {
        var found = new SortedDictionary<string, string>(StringComparer.Ordinal);
        foreach (var folder in folders.SelectMany(folder => ListFolders(folder, errors)))
        {
            var name = Path.GetFileName(folder);
            var file = Path.Combine(folder, $"{name}.dll");
            if (name.StartsWith('.'))
                continue; // system folder of a volume or a tool
            if (!File.Exists(file))
                Refuse(folder, $"has no {name}.dll: expected the assembly of the plug-in, named as its folder");
            else if (!found.TryAdd(name, file))
                Refuse(folder, $"is a second plug-in of this name, beside {Path.GetDirectoryName(found[name])}");
        }

        return [.. found.Select(plugin => (plugin.Key, plugin.Value))];

        void Refuse(string folder, string why) => errors.Add("ESB-PLUGIN-FOLDER", folder, why, origin: null);
    }

    private static string[] ListFolders(string folder, ConfigErrors errors)
    {
        try
        {
            return Directory.GetDirectories(folder);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            errors.Add("ESB-PLUGIN-FOLDER", folder, $"cannot be read: {ex.Message.TrimEnd('.')}", origin: null);
            return [];
        }
    }
}
