using System.CommandLine;
using Esb.Host.Commands.Documents;

namespace Esb.Tests.Documents;

public sealed class CommandPageTests
{
    [Test]
    public void Options_of_a_group_are_listed_with_each_command_that_inherits_them()
    {
        var root = new RootCommand("A program.")
        {
            new Command("store", "Works on the store.")
            {
                new Command("list", "Lists.") { new Option<bool>("--json") { Description = "As JSON." } },
                new Option<string>("--url") { Description = "Where the host is.", Recursive = true },
                new Option<string>("--own") { Description = "Of the group alone." },
                new Option<string>("--key") { Recursive = true, Hidden = true },
            },
        };

        var page = CommandPage.Write(root);

        Assert.That(page, Does.Contain("## esb store list\n\nLists.\n"));
        Assert.That(page, Does.Contain("| `--json` | As JSON. |\n| `--url` | Where the host is. |"));
        Assert.That(page, Does.Not.Contain("--own").And.Not.Contain("--key"));
    }
}
