using Esb.Host;
using NUnit.Framework;

namespace Esb.Tests.Host;

public sealed class TextTableTests
{
    [TestCase("a\u001b[2Jb"), TestCase("a\r\nforged row"), TestCase("\u202Eevil"), TestCase("\u009b31m"), TestCase("\u001b]0;title\u0007")]
    public void Text_from_outside_cannot_steer_a_terminal(string cell)
    {
        using var output = new StringWriter { NewLine = "\n" };

        TextTable.Write(
            output,
            [
                ["ID", "KEY"],
                ["1", cell],
            ]
        );

        Assert.That(output.ToString().Split('\n'), Has.Length.EqualTo(3));
        Assert.That(
            output.ToString().Replace("\n", "", StringComparison.Ordinal),
            Has.None.Matches<char>(character => char.IsControl(character) || character == '\u202E')
        );
    }

    [Test]
    public void Cells_stand_in_columns()
    {
        using var output = new StringWriter { NewLine = "\n" };

        TextTable.Write(
            output,
            [
                ["ID", "KEY"],
                ["1001", "köln"],
            ]
        );

        Assert.That(output.ToString(), Is.EqualTo("ID    KEY\n1001  köln\n"));
    }
}
