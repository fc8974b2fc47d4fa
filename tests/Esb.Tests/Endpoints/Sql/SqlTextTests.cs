using Esb.Endpoints.Sql;

namespace Esb.Tests.Endpoints.Sql;

public sealed class SqlTextTests
{
    [TestCase("select * from t where a = @a and b = @b or a > @a", "select * from t where a = $1 and b = $2 or a > $1", "a,b")]
    [TestCase("values (@a,@b)", "values ($1,$2)", "a,b")]
    [TestCase("select @a::int", "select $1::int", "a")]
    [TestCase("select (@a)", "select ($1)", "a")]
    [TestCase("select '@a', @b", "select '@a', $1", "b")]
    [TestCase("select 'it''s @a', @b", "select 'it''s @a', $1", "b")]
    [TestCase(@"select E'it\'s @a', @b", @"select E'it\'s @a', $1", "b")]
    [TestCase("select \"@a\", @b", "select \"@a\", $1", "b")]
    [TestCase("select $$@a$$, @b", "select $$@a$$, $1", "b")]
    [TestCase("select $x$@a $$ $x$, @b", "select $x$@a $$ $x$, $1", "b")]
    [TestCase("select 1 -- @a\n, @b", "select 1 -- @a\n, $1", "b")]
    [TestCase("select /* @a /* @c */ @d */ @b", "select /* @a /* @c */ @d */ $1", "b")]
    [TestCase("select a from t where tags @> @b and c <@ @d", "select a from t where tags @> $1 and c <@ $2", "b,d")]
    [TestCase("select a from t where doc @@ @q", "select a from t where doc @@ $1", "q")]
    [TestCase(
        "select 1 where a=@id and b<>@b and c>=@c and d||@d = 'x'",
        "select 1 where a=$1 and b<>$2 and c>=$3 and d||$4 = 'x'",
        "id,b,c,d"
    )]
    [TestCase("update t set a=@id, b=b+@b", "update t set a=$1, b=b+$2", "id,b")]
    [TestCase("select @ -5, mail like 'x@example.org'", "select @ -5, mail like 'x@example.org'", "")]
    public void Parameters_are_found_outside_of_strings_names_and_comments(string command, string positional, string names)
    {
        var text = SqlText.Parse(command);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(text.Statements.Single().Text, Is.EqualTo(positional));
            Assert.That(string.Join(',', text.Parameters), Is.EqualTo(names));
        }
    }

    [TestCase("select 1", 1)]
    [TestCase("select 1;", 1)]
    [TestCase("select ';' ; ", 1)]
    [TestCase("select 1; select 2", 2)]
    public void Statements_are_counted(string command, int count) =>
        Assert.That(SqlText.Parse(command).Statements, Has.Count.EqualTo(count));

    [Test]
    public void Each_statement_counts_its_own_parameters()
    {
        var text = SqlText.Parse("insert into t values (@a, @b); update t set b = @b where a > @b and c = @c");

        Assert.That(
            text.Statements.Select(statement => statement.Text),
            Is.EqualTo(new[] { "insert into t values ($1, $2)", " update t set b = $1 where a > $1 and c = $2" })
        );
        Assert.That(text.Statements.Select(statement => string.Join(',', statement.Values)), Is.EqualTo(new[] { "0,1", "1,2" }));
    }

    [TestCase("insert into t values (1); commit", "commit")]
    [TestCase("START  TRANSACTION; select 1", "START  TRANSACTION")]
    [TestCase("insert into commits values ('; commit')", null)]
    public void Statements_that_end_a_transaction_are_found(string command, string? part) =>
        Assert.That(SqlText.Parse(command).TransactionPart, Is.EqualTo(part));

    [TestCase("select * from t where a = '${name}'")]
    [TestCase("select * from {header.x-table}")]
    [TestCase("select '{ jsonpath: $.a }'")]
    [TestCase("select '{message.body}'")]
    [Property("Case", "SQL-03")]
    public void Content_of_messages_has_no_place_in_the_text(string command) =>
        Assert.That(SqlText.Parse(command).DynamicPart, Is.Not.Null);

    [TestCase("select '{1,2}'::int[]")]
    [TestCase("select '{\"a\": 1}'::jsonb")]
    [TestCase("select $1")]
    public void Braces_of_values_are_none_of_ours(string command) => Assert.That(SqlText.Parse(command).DynamicPart, Is.Null);
}
