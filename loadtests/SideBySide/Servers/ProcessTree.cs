using System.Globalization;

namespace SideBySide.Servers;

/// <summary>What a process and its children have used, as <c>/proc</c> tells it.</summary>
internal static class ProcessTree
{
    private const double TicksPerSecond = 100; // sysconf(_SC_CLK_TCK), the same on every Linux that .NET runs on

    /// <summary>User and system time of all of them; zero for one that has ended.</summary>
    public static TimeSpan ProcessorTime(int id) =>
        TimeSpan.FromSeconds(Ticks(Read($"/proc/{id}/stat")) / TicksPerSecond)
        + Children(id).Aggregate(TimeSpan.Zero, (sum, child) => sum + ProcessorTime(child));

    /// <summary>The processes that run a .NET program.</summary>
    /// <param name="program">The name of its file.</param>
    public static IEnumerable<int> Running(string program) =>
        Directory
            .GetDirectories("/proc")
            .Select(process => int.TryParse(Path.GetFileName(process), CultureInfo.InvariantCulture, out var id) ? id : 0)
            .Where(id =>
                id > 0 && Read($"/proc/{id}/cmdline").Split('\0') is ["dotnet", var file, ..] && Path.GetFileName(file) == program
            );

    /// <summary>Fields 14 and 15 of proc(5), counted behind the name, which may hold blanks.</summary>
    internal static long Ticks(string stat)
    {
        if (stat.Length == 0)
            return 0;
        var fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        return long.Parse(fields[11], CultureInfo.InvariantCulture) + long.Parse(fields[12], CultureInfo.InvariantCulture);
    }

    private static IEnumerable<int> Children(int id) =>
        Read($"/proc/{id}/task/{id}/children")
            .Split(' ', StringSplitOptions.RemoveEmptyEntries)
            .Select(child => int.Parse(child, CultureInfo.InvariantCulture));

    private static string Read(string file)
    {
        try
        {
            return File.ReadAllText(file).Trim();
        }
        catch (IOException)
        {
            return ""; // it has ended meanwhile
        }
    }
}
