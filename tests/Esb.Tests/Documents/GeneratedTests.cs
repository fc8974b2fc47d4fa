using Esb.Host;
using Esb.Host.Commands;
using Esb.Host.Commands.Documents;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Documents;

/// <summary>The pages that the program writes about itself are those of the documents.</summary>
public sealed class GeneratedTests
{
    private static readonly string Folder = Path.Combine(Markdown.Repository, "docs", "reference");

    [Test]
    public void Reference_is_what_the_program_says()
    {
        var context = new CommandContext
        {
            Output = TextWriter.Null,
            Error = TextWriter.Null,
            Variables = new Dictionary<string, string>(),
            Services = () => new ServiceCollection().AddEsb(),
        };
        using var scope = Assert.EnterMultipleScope();
        foreach (var (name, text) in ReferencePages.All(context))
            Assert.That(
                File.Exists(Path.Combine(Folder, name)) ? File.ReadAllText(Path.Combine(Folder, name)) : "",
                Is.EqualTo(text),
                $"{name}: dotnet run --project Esb.Host -- docs docs/reference"
            );
    }
}
