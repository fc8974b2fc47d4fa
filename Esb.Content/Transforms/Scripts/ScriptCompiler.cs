using Acornima;
using Acornima.Ast;
using Jint;
using AstModule = Acornima.Ast.Module;

namespace Esb.Content.Transforms.Scripts;

/// <summary>Parses JavaScript modules, and refuses constructs that a map cannot use.</summary>
/// <remarks>Generators and BigInt are refused because a script could exceed its limits by them: the engine checks no limit while a
/// generator resumes, or in one multiplication of large numbers.</remarks>
internal static class ScriptCompiler
{
    public const string Code = "ESB-JS-COMPILE";

    // The interpreter descends into an expression without measuring the stack.
    private const int DeepestSyntax = 400;

    /// <summary>The parsed module, which any number of engines may share.</summary>
    /// <exception cref="MapFileException"><c>ESB-JS-COMPILE</c>.</exception>
    public static Prepared<AstModule> Compile(MapText file, TimeSpan regexTimeout)
    {
        try
        {
            var module = Engine.PrepareModule(
                file.Text,
                Path.GetFileName(file.Path),
                new ModulePreparationOptions { ParsingOptions = new ModuleParsingOptions { RegexTimeout = regexTimeout } }
            );
            if (Refuse(module.Program!) is var (node, problem))
                throw Problem(file, node.Location.Start, problem);
            if (!module.Program!.Body.Any(ExportsDefault))
                throw new MapFileException(
                    Code,
                    "the module has no default export: expected export default (input, context) => …",
                    UriOf(file),
                    1,
                    1
                );
            return module;
        }
        catch (ScriptPreparationException ex) when (ex.InnerException is ParseErrorException error)
        {
            throw new MapFileException(Code, error.Description.TrimEnd('.'), UriOf(file), error.LineNumber, error.Column);
        }
        catch (Exception ex) when (ex is ScriptPreparationException or InsufficientExecutionStackException)
        {
            throw new MapFileException(Code, ex.Message.TrimEnd('.'), UriOf(file), 1, 1);
        }
    }

    public static string UriOf(MapText file) => new Uri(file.Path).AbsoluteUri;

    public static MapFileException Problem(MapText file, Position place, string problem) =>
        new(Code, problem, UriOf(file), place.Line, place.Column + 1);

    private static bool ExportsDefault(Node statement) =>
        statement switch
        {
            ExportDefaultDeclaration => true,
            ExportNamedDeclaration { Source: null } named => named.Specifiers.Any(specifier =>
                specifier.Exported is Identifier { Name: "default" }
            ),
            _ => false,
        };

    private static (Node Node, string Problem)? Refuse(Node module)
    {
        var open = new Stack<(Node Node, int Depth, bool IsInFunction)>([(module, 0, false)]);
        while (open.TryPop(out var next))
        {
            if (next.Depth > DeepestSyntax)
                return (next.Node, $"the code is nested deeper than {DeepestSyntax} levels");
            if (ProblemOf(next.Node, next.IsInFunction) is { } problem)
                return (next.Node, problem);
            var isInside = next.IsInFunction || next.Node is IFunction or StaticBlock;
            foreach (var child in next.Node.ChildNodes)
                open.Push((child, next.Depth + 1, isInside));
        }

        return null;
    }

    private static string? ProblemOf(Node node, bool isInFunction) =>
        node switch
        {
            ImportDeclaration or ExportAllDeclaration or ExportNamedDeclaration { Source: not null } or ImportExpression =>
                "a map is one file and cannot import others",
            IFunction { Generator: true } => "generator functions are not supported",
            BigIntLiteral => "BigInt is not supported; pass long numbers as text",
            AwaitExpression or ForOfStatement { Await: true } when !isInFunction => "await is not supported outside functions",
            _ => null,
        };
}
