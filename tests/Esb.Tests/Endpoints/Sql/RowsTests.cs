using System.Data;
using System.Text;
using Esb.Endpoints.Sql;

namespace Esb.Tests.Endpoints.Sql;

[TestFixture]
internal sealed class RowsTests
{
    [Test]
    public void Rows_as_JSON_keep_their_types()
    {
        using var table = Table();

        Assert.That(
            Write(table, new JsonRows(Names(table))),
            Is.EqualTo(
                """[{"id":7,"big":9007199254740993,"price":19.90,"ratio":0.5,"nan":"NaN","name":"Käse <\"&>","open":true,"note":null,"key":"01234567-89ab-cdef-0123-456789abcdef","at":"2026-01-02T03:04:05.5Z","local":"2026-01-02T03:04:05","tags":["a","b"],"raw":"AQI=","took":"PT1M30S"}]"""
            )
        );
    }

    [Test]
    public void Rows_as_XML_have_an_element_for_each_value_that_is_not_null()
    {
        using var table = Table();

        Assert.That(
            Write(table, new XmlRows(Names(table))),
            Is.EqualTo(
                """<?xml version="1.0" encoding="utf-8"?><rows><row><id>7</id><big>9007199254740993</big><price>19.90</price><ratio>0.5</ratio><nan>NaN</nan><name>Käse &lt;"&amp;&gt;</name><open>true</open><key>01234567-89ab-cdef-0123-456789abcdef</key><at>2026-01-02T03:04:05.5Z</at><local>2026-01-02T03:04:05</local><tags>a</tags><tags>b</tags><raw>AQI=</raw><took>PT1M30S</took></row></rows>"""
            )
        );
    }

    [Test]
    public void Answer_without_rows_is_an_empty_array_or_an_empty_element()
    {
        using var json = new JsonRows(["id"]);
        using var xml = new XmlRows(["id"]);

        Assert.That(Text(json.Finish()), Is.EqualTo("[]"));
        Assert.That(Text(xml.Finish()), Does.EndWith("<rows />"));
    }

    [Test]
    public void Column_names_that_are_no_XML_names_are_encoded()
    {
        using var table = new DataTable
        {
            Columns = { { "?column?", typeof(int) } },
            Locale = System.Globalization.CultureInfo.InvariantCulture,
        };
        table.Rows.Add(1);

        Assert.That(Write(table, new XmlRows(Names(table))), Does.Contain("<_x003F_column_x003F_>1</_x003F_column_x003F_>"));
    }

    private static DataTable Table()
    {
        var table = new DataTable { Locale = System.Globalization.CultureInfo.InvariantCulture };
        var values = new (string Name, object Value)[]
        {
            ("id", 7),
            ("big", 9007199254740993L),
            ("price", 19.90m),
            ("ratio", 0.5),
            ("nan", double.NaN),
            ("name", "Käse <\"&>"),
            ("open", true),
            ("note", DBNull.Value),
            ("key", Guid.Parse("01234567-89ab-cdef-0123-456789abcdef")),
            ("at", new DateTime(2026, 1, 2, 3, 4, 5, 500, DateTimeKind.Utc)),
            ("local", new DateTime(2026, 1, 2, 3, 4, 5, DateTimeKind.Unspecified)),
            ("tags", new[] { "a", "b" }),
            ("raw", new byte[] { 1, 2 }),
            ("took", TimeSpan.FromSeconds(90)),
        };
        foreach (var (name, value) in values)
        {
            var column = table.Columns.Add(name, value is DBNull ? typeof(string) : value.GetType());
            if (name == "at")
                column.DateTimeMode = DataSetDateTime.Utc;
        }

        table.Rows.Add([.. values.Select(value => value.Value)]);
        return table;
    }

    private static List<string> Names(DataTable table) => [.. table.Columns.Cast<DataColumn>().Select(column => column.ColumnName)];

    private static string Write(DataTable table, IRowsWriter rows)
    {
        using (rows)
        {
            using var reader = table.CreateDataReader();
            while (reader.Read())
                rows.Write(reader);
            return Text(rows.Finish());
        }
    }

    private static string Text(ReadOnlyMemory<byte> bytes) => Encoding.UTF8.GetString(bytes.Span);
}
