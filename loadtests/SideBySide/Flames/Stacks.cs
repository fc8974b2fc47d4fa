using System.Text.RegularExpressions;

namespace SideBySide.Flames;

/// <summary>A function and those that it called, with the number of samples in which they were on the stack.</summary>
/// <param name="Name">As it is shown.</param>
/// <param name="Module">The library or assembly; "kernel" for the kernel.</param>
internal sealed record Frame(string Name, string Module)
{
    private readonly Dictionary<(string, string), Frame> _callees = [];

    public int Samples { get; set; }

    public IEnumerable<Frame> Callees => _callees.Values;

    public Frame Callee(string name, string module)
    {
        if (!_callees.TryGetValue((name, module), out var frame))
            _callees[(name, module)] = frame = new Frame(name, module);
        return frame;
    }
}

/// <summary>The stacks of <c>perf script -F ip,sym,dso</c>, put together from their outermost functions on.</summary>
internal static partial class Stacks
{
    public static Frame Read(string script)
    {
        var root = new Frame("all", "");
        var stack = new List<(string Name, string Module)>();
        foreach (var line in script.Split('\n'))
        {
            if (line.Trim().Length > 0)
                Add(stack, line.Trim());
            else if (stack.Count > 0)
                Count(root, stack);
        }

        if (stack.Count > 0)
            Count(root, stack);
        return root;
    }

    private static void Count(Frame root, List<(string Name, string Module)> stack)
    {
        var frame = root;
        frame.Samples++;
        foreach (var (name, module) in Enumerable.Reverse(stack))
        {
            frame = frame.Callee(name, module);
            frame.Samples++;
        }

        stack.Clear();
    }

    // 7f3a2c1b0d4e symbol (library)
    private static void Add(List<(string Name, string Module)> stack, string line)
    {
        var (begin, end) = (line.IndexOf(' ', StringComparison.Ordinal), line.LastIndexOf(" (", StringComparison.Ordinal));
        if (begin < 0 || end <= begin)
            return;
        var (symbol, library) = (line[(begin + 1)..end], line[(end + 2)..^1]);
        if (symbol.StartsWith("[unknown]", StringComparison.Ordinal))
            return; // a stub: it says nothing
        if (Compiled().Match(symbol) is { Success: true } method)
            stack.Add((NameOf(method.Groups["type"].Value, method.Groups["method"].Value), method.Groups["assembly"].Value));
        else
            stack.Add((symbol, library.StartsWith("[kernel", StringComparison.Ordinal) ? "kernel" : Path.GetFileName(library)));
    }

    // A.B.Type+<MethodAsync>d__5, MoveNext is what the compiler made of Type.MethodAsync.
    private static string NameOf(string type, string method)
    {
        var name = type[(type.LastIndexOf('.', type.IndexOfAny(['[', '<', '+']) is > 0 and var own ? own : type.Length - 1) + 1)..];
        return StateMachine().Match(name) is { Success: true } machine
            ? $"{machine.Groups["type"].Value}.{machine.Groups["method"].Value}"
            : $"{name}.{method}";
    }

    // instance void [Esb.Core] Esb.Core.Messages.MessageBody::Open(int32)[OptimizedTier1]
    [GeneratedRegex(@"\[(?<assembly>[\w.]+)\] (?<type>[^:]+)::(?<method>[^(\[]+)")]
    private static partial Regex Compiled();

    [GeneratedRegex(@"^(?<type>[^+]+)\+<(?<method>\w+)>d__\d+")]
    private static partial Regex StateMachine();
}
